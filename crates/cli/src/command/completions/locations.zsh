# Paths inside of files: FILE:/PATH and FILE:/PATH@ATTRIBUTE.
_hyperslab_location() {
    if [[ $PREFIX != *:/* ]]; then
        _default
        return
    fi
    local -a found groups others
    found=("${(@f)$(hyperslab complete-location -- "${(Q)PREFIX}" 2>/dev/null)}")
    groups=(${(M)found:#*/})
    others=(${found:#*/})
    compadd -S '' -a groups
    compadd -a others
}

