internal import Foundation

/// Whose a file or directory is, and who may do what with it.
struct FileRights: Hashable {
    /// `nil` leaves the owner.
    var userID: UInt32?
    var groupID: UInt32?
    var mode: Int

    func apply(to path: String) throws {
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: mode]
        if let userID { attributes[.ownerAccountID] = NSNumber(value: userID) }
        if let groupID { attributes[.groupOwnerAccountID] = NSNumber(value: groupID) }
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    }
}
