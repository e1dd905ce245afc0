# Paths inside of files: FILE:/PATH and FILE:/PATH@ATTRIBUTE.
complete -c hyperslab -n 'string match -q -- "*:/*" (commandline -ct)' -f -a '(hyperslab complete-location -- (commandline -ct) 2>/dev/null)'
