internal import Foundation
internal import NIOCore

/// The system's words for a failure: Foundation's own end in a number ("NSCocoaErrorDomain error 256").
package enum FileFailure {
    /// - Parameter error: of Foundation's, which may have one of the system's beneath it, or of NIO's.
    package static func words(_ error: any Error) -> String {
        if let error = error as? IOError { return words(ofSystem: Int(error.errnoCode)) }
        let error = error as NSError
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        return cause.domain == NSPOSIXErrorDomain ? words(ofSystem: cause.code) : error.localizedDescription
    }

    /// The same, and for an error that is none of the system's, what it says of itself.
    package static func text(_ error: any Error) -> String {
        let domains = [NSPOSIXErrorDomain, NSCocoaErrorDomain]
        return error is IOError || domains.contains((error as NSError).domain) ? words(error) : "\(error)"
    }

    /// - Parameter code: an `errno`.
    package static func words(ofSystem code: Int) -> String {
        let text = NSError(domain: NSPOSIXErrorDomain, code: code).localizedDescription
        // Before it stands that the operation could not be completed.
        return text.split(separator: ". ").last.map(String.init) ?? text
    }
}
