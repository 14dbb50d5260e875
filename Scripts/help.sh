# `SCRIPT --help` prints what stands at the head of the script, before anything is built or begun. Sourced, first of all.
case " $* " in
*" --help "* | *" -h "*)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "Scripts/$(basename "$0")"
    exit 0
    ;;
esac
