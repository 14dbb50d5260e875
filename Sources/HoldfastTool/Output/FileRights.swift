internal import Foundation
internal import HoldfastPlatform
internal import NIOCore

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

    /// The same, of an open file.
    func apply(to descriptor: Int32) throws {
        // All bits set leave what is there.
        if userID != nil || groupID != nil, fchown(descriptor, userID ?? .max, groupID ?? .max) != 0 {
            throw IOError(errnoCode: errno, reason: "fchown")
        }
        guard fchmod(descriptor, mode_t(mode)) == 0 else { throw IOError(errnoCode: errno, reason: "fchmod") }
    }
}
