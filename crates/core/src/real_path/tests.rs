use super::*;
use std::fs;
use std::path::PathBuf;

/// The real path of a folder with `in/below/file`, `in/link -> below`, `in/copy -> below/file`.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().canonicalize().unwrap();
    fs::create_dir_all(real.join("in/below")).unwrap();
    fs::write(real.join("in/below/file"), "inside").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("below", real.join("in/link")).unwrap();
        std::os::unix::fs::symlink("below/file", real.join("in/copy")).unwrap();
    }
    (dir, real)
}

#[test]
fn opens_what_lies_at_a_real_path() {
    let (_dir, real) = folder();
    let file = real.join("in/below/file");
    assert_eq!(io::read_to_string(open(&file).unwrap()).unwrap(), "inside");
    assert_eq!(status(&file).unwrap().len(), 6);
    assert!(status(&real.join("in")).unwrap().is_dir());
    assert_eq!(list(&real.join("in/below"), 9).unwrap(), [("file".into(), Kind::File)]);
    assert_eq!(list(&real.join("in"), 1).unwrap().len(), 1);
    for missing in ["in/no", "in/no/file", "in/below/no"] {
        assert_eq!(open(&real.join(missing)).unwrap_err().kind(), io::ErrorKind::NotFound, "{missing}");
        assert_eq!(status(&real.join(missing)).unwrap_err().kind(), io::ErrorKind::NotFound, "{missing}");
    }
    assert_eq!(open(&file.join("x")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
}

#[cfg(unix)]
#[test]
fn refuses_a_link_in_any_part_of_a_path() {
    let (_dir, real) = folder();
    for linked in ["in/link/file", "in/copy"] {
        assert!(is_link(&open(&real.join(linked)).unwrap_err()), "{linked}");
        assert!(is_link(&status(&real.join(linked)).unwrap_err()), "{linked}");
    }
    assert!(is_link(&list(&real.join("in/link"), 9).unwrap_err()));
    assert!(is_link(&RealFolder::open(&real.join("in/link")).unwrap_err()));
    assert!(!is_link(&open(&real.join("in/no")).unwrap_err()));
    let opened = RealFolder::open(&real.join("in")).unwrap();
    assert!(opened.folder("link".as_ref()).is_err() && opened.open_file("copy".as_ref()).is_err());
    assert_eq!(opened.kind("link".as_ref()).unwrap(), Kind::Link);
}

#[cfg(target_os = "linux")]
#[test]
fn walking_a_path_finds_the_same_as_opening_it_at_once() {
    use rustix::fs::OFlags;
    let (_dir, real) = folder();
    let read = |path: &str| linux::walked(&real.join(path), OFlags::RDONLY).map(File::from);
    assert_eq!(io::read_to_string(read("in/below/file").unwrap()).unwrap(), "inside");
    for (path, at_once) in ["in/link/file", "in/copy", "in/no", "in/no/file", "in/below/file/x"]
        .map(|path| (path, open(&real.join(path)).unwrap_err()))
    {
        assert_eq!(read(path).unwrap_err().raw_os_error(), at_once.raw_os_error(), "{path}");
    }
    let folder = linux::walked(&real.join("in/link"), OFlags::RDONLY | OFlags::DIRECTORY);
    assert!(is_link(&folder.unwrap_err()));
}

#[cfg(target_os = "linux")]
#[test]
fn changes_an_opened_folder_and_not_what_is_at_its_path_later() {
    let (_dir, real) = folder();
    let opened = RealFolder::open(&real.join("in")).unwrap();
    fs::create_dir_all(real.join("out/below/deeper")).unwrap();
    fs::write(real.join("out/below/file"), "theirs").unwrap();
    fs::rename(real.join("in"), real.join("moved")).unwrap();
    std::os::unix::fs::symlink("out", real.join("in")).unwrap();
    opened.create_file("new".as_ref()).unwrap();
    opened.create_folder("more".as_ref()).unwrap();
    opened.rename("new".as_ref(), "renamed".as_ref()).unwrap();
    assert!(real.join("moved/renamed").is_file() && real.join("moved/more").is_dir());
    std::os::unix::fs::symlink("../../out", real.join("moved/below/link")).unwrap();
    fs::create_dir_all(real.join("moved/below/a/b")).unwrap();
    fs::create_dir_all(real.join("moved/below/c")).unwrap();
    opened.remove("below".as_ref()).unwrap();
    opened.remove("renamed".as_ref()).unwrap();
    opened.sync().unwrap();
    let mut left: Vec<_> = opened.list().unwrap().into_iter().map(|(name, _)| name).collect();
    left.sort();
    assert_eq!(left, ["copy", "link", "more"]);
    assert_eq!(fs::read(real.join("out/below/file")).unwrap(), b"theirs");
    assert!(real.join("out/below/deeper").is_dir());
}
