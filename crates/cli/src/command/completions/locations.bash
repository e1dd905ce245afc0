# Paths inside of files: FILE:/PATH and FILE:/PATH@ATTRIBUTE.
_hyperslab_located() {
    local word="${COMP_LINE:0:COMP_POINT}" begun="" found
    word="${word##*[[:space:]]}"
    case "$word" in
        *:/*) ;;
        *) _hyperslab "$@"; return ;;
    esac
    # Bash replaces only what is behind the last colon.
    case "$COMP_WORDBREAKS" in
        *:*) begun="${word%"${word##*:}"}" ;;
    esac
    COMPREPLY=()
    while IFS= read -r found; do
        COMPREPLY+=("$(printf %q "${found#"$begun"}")")
    done < <("$1" complete-location -- "$word" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _hyperslab_located -o nosort -o bashdefault -o default hyperslab
else
    complete -F _hyperslab_located -o bashdefault -o default hyperslab
fi
