internal import Foundation

/// A group of this machine.
struct SystemGroup: Hashable {
    let name: String
    let id: UInt32

    /// `nil` if there is none of this name, or number.
    init?(named name: String) {
        if let entry = unsafe getgrnam(name) {
            let id = unsafe entry.pointee.gr_gid
            self.init(id: id)
        } else if let id = UInt32(name) {
            self.init(id: id)
        } else {
            return nil
        }
    }

    init(id: UInt32) {
        self.id = id
        if let entry = unsafe getgrgid(id), let text = unsafe entry.pointee.gr_name {
            name = unsafe String(cString: text)
        } else {
            name = "\(id)"
        }
    }

    /// The group of what is made in a directory that belongs to one: of the nearest that exists; nil where that is root's, or
    /// this user isn't root.
    static func serving(_ directory: String) -> SystemGroup? {
        guard geteuid() == 0 else { return nil }
        var url = URL(fileURLWithPath: directory).standardizedFileURL
        while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
        guard let owner = PathOwner(url.path), owner.groupID != 0 else { return nil }
        return SystemGroup(id: owner.groupID)
    }
}

/// A user of this machine, as whom a service runs.
struct SystemAccount: Hashable {
    let name: String
    let userID: UInt32
    var group: SystemGroup

    /// `nil` if there is none of this name.
    init?(named name: String) {
        guard let entry = unsafe getpwnam(name) else { return nil }
        let (user, group) = (unsafe entry.pointee.pw_uid, unsafe entry.pointee.pw_gid)
        (self.name, userID, self.group) = (name, user, SystemGroup(id: group))
    }

    /// `nil` if there is none of this number.
    init?(id: UInt32) {
        guard let entry = unsafe getpwuid(id), let text = unsafe entry.pointee.pw_name else { return nil }
        (name, userID) = (unsafe String(cString: text), id)
        group = SystemGroup(id: unsafe entry.pointee.pw_gid)
    }

    /// The directory on the way to `path`, itself included, that this user can't enter; nil for none. The user's further
    /// groups are not looked at.
    func obstacle(on path: String) -> PathOwner? {
        guard userID != 0 else { return nil }
        var url = URL(fileURLWithPath: path).standardizedFileURL
        var found: PathOwner?
        while true {
            if let owner = PathOwner(url.path), !owner.allows(self, 0o1) { found = owner }
            if url.path == "/" { return found }
            url.deleteLastPathComponent()
        }
    }
}

/// Whose a file or directory is.
struct PathOwner {
    let path: String
    let userID: UInt32
    let groupID: UInt32
    let mode: Int

    /// `nil` for one that isn't there, or is hidden.
    init?(_ path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let user = attributes[.ownerAccountID] as? NSNumber,
            let group = attributes[.groupOwnerAccountID] as? NSNumber,
            let mode = attributes[.posixPermissions] as? NSNumber
        else { return nil }
        (self.path, userID, groupID, self.mode) = (path, user.uint32Value, group.uint32Value, mode.intValue)
    }

    /// - Parameter bits: 4 to read, 2 to write, 1 to enter, or their sum.
    func allows(_ account: SystemAccount, _ bits: Int) -> Bool {
        if account.userID == 0 { return true }
        let shift = userID == account.userID ? 6 : groupID == account.group.id ? 3 : 0
        return (mode >> shift) & bits == bits
    }

    /// `root:holdfast, mode 0750`
    var description: String {
        let entry = unsafe getpwuid(userID)
        let user = unsafe (entry?.pointee.pw_name).map { unsafe String(cString: $0) } ?? "\(userID)"
        return "\(user):\(SystemGroup(id: groupID).name), mode 0\(String(mode & 0o777, radix: 8))"
    }
}
