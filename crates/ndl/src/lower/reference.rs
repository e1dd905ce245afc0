//! Targets of references.

use crate::tree::{Key, Scalar, Tree};
use hyperslab_core::nd::{Region, Selection};
use hyperslab_model::{Reference, ReferencedPart};

pub(super) fn reference(reference: &Reference) -> Tree<'_> {
    match reference {
        Reference::Null => Tree::Scalar(Scalar::Null),
        Reference::Object(path) => Tree::text(path.as_str()),
        Reference::Region(path, selection) => {
            let target = std::iter::once((Key::Word("target"), Tree::text(path.as_str())));
            Tree::map(target.chain(region(selection)).collect())
        }
        Reference::Attribute(path, name) => Tree::map(vec![
            (Key::Word("target"), Tree::text(path.as_str())),
            (Key::Word("attribute"), Tree::text(name.as_str())),
        ]),
        Reference::Dangling(address) => Tree::one("address", Tree::int(*address)),
        Reference::External { file, address, part } => {
            let mut entries = vec![
                (Key::Word("file"), Tree::text(file.as_str())),
                (Key::Word("address"), Tree::int(*address)),
            ];
            match part {
                ReferencedPart::Object => {}
                ReferencedPart::Region(selection) => entries.extend(region(selection)),
                ReferencedPart::Attribute(name) => {
                    entries.push((Key::Word("attribute"), Tree::text(name.as_str())));
                }
            }
            Tree::map(entries)
        }
    }
}

/// The entries of a selection.
fn region<'a>(selection: &Selection) -> Vec<(Key<'static>, Tree<'a>)> {
    let mut entries = Vec::new();
    let flag = |name| (Key::Word(name), Tree::Scalar(Scalar::Bool(true)));
    match selection {
        Selection::All => entries.push(flag("all")),
        Selection::None => entries.push(flag("none")),
        Selection::Region(region) if region.is_empty() => entries.push(flag("none")),
        Selection::Region(region) if region.is_box() => entries.extend(block(region)),
        Selection::Region(region) if region.block_count().is_some_and(|count| count <= MAX_BLOCKS) => {
            entries
                .push((Key::Word("blocks"), Tree::list(region.blocks().map(|one| Tree::map(block(&one))))));
        }
        // A region with gaps can consist of more boxes than a document can list.
        Selection::Region(region) => {
            entries.extend([
                (Key::Word("start"), Tree::ints(&region.start)),
                (Key::Word("count"), Tree::ints(&region.count)),
                (Key::Word("step"), Tree::ints(&region.step)),
            ]);
        }
        Selection::Blocks(blocks) => {
            let blocks = blocks.iter().flat_map(Region::blocks);
            entries.push((Key::Word("blocks"), Tree::list(blocks.map(|one| Tree::map(block(&one))))));
        }
        Selection::Points { rank, coordinates } => {
            // Points in an array without dimensions have no coordinates.
            let rank = usize::try_from(*rank).unwrap_or(usize::MAX).max(1);
            let points = coordinates.chunks(rank).map(Tree::ints);
            entries.push((Key::Word("elements"), Tree::list(points)));
        }
    }
    entries
}

/// The first and the last index of a box, both inclusive.
fn block<'a>(region: &Region) -> Vec<(Key<'static>, Tree<'a>)> {
    let last = region.start.iter().zip(&region.count);
    let last = last.map(|(start, count)| Tree::int(i128::from(*start) + i128::from(*count) - 1));
    vec![(Key::Word("start"), Tree::ints(&region.start)), (Key::Word("opposite"), Tree::list(last))]
}

/// The number of boxes of a region up to which they are listed.
const MAX_BLOCKS: u64 = 1 << 16;
