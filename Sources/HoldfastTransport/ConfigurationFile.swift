internal import Foundation

/// A small file that a configuration names.
package struct ConfigurationFile {
    /// The whole of it.
    ///
    /// - Parameter what: what it is to be, for people: "signing key".
    /// - Throws: an error that names the file and why it can't be read.
    package static func read(_ path: String, as what: String) throws(TransportConfigurationError) -> [UInt8] {
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        } catch let error as CocoaError {
            let why: String
            switch error.code {
            case .fileReadNoSuchFile, .fileNoSuchFile: why = "there is no such file"
            case .fileReadNoPermission: why = "it may not be read by this user"
            default: why = error.localizedDescription
            }
            throw TransportConfigurationError("the \(what) \(path) can't be read: \(why)")
        } catch {
            throw TransportConfigurationError("the \(what) \(path) can't be read: \(error.localizedDescription)")
        }
    }
}
