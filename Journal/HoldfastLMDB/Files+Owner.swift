import CHoldfastLMDB
import HoldfastPlatform

/// Ownership of files: root's tools work on journals of a service's user, who must be able to use the files made by
/// them.
extension OpenFile {
    package var identity: FileIdentity { get throws(LMDBError) { FileIdentity(try facts()) } }

    func facts() throws(LMDBError) -> stat {
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw Files.failure("fstat", path) }
        return facts
    }

    /// Gives the file, which root has just made, to the owner of a directory. Does nothing for other users.
    package func giveToOwner(ofDirectory directory: String) throws(LMDBError) {
        guard geteuid() == 0 else { return }
        var owner = stat()
        guard unsafe stat(directory, &owner) == 0 else { throw Files.failure("stat", directory) }
        try give(to: owner)
    }

    /// Gives the file the owner and the mode of the file that it replaces.
    package func takeOwnerAndMode(of replaced: String) throws(LMDBError) {
        var owner = stat()
        guard unsafe stat(replaced, &owner) == 0 else { throw Files.failure("stat", replaced) }
        try give(to: owner)
        let mode = owner.st_mode & 0o7777
        guard try facts().st_mode & 0o7777 == mode || fchmod(descriptor, mode) == 0 else {
            throw Files.failure("fchmod", path)
        }
    }

    private func give(to owner: stat) throws(LMDBError) {
        let facts = try facts()
        if facts.st_uid == owner.st_uid, facts.st_gid == owner.st_gid { return }
        if fchown(descriptor, owner.st_uid, owner.st_gid) == 0 { return }
        // Root without CAP_CHOWN, as in a container, can only make files of its own.
        guard errno == EPERM, facts.st_uid == owner.st_uid || geteuid() == 0 else {
            throw Files.failure("fchown", path)
        }
    }
}
