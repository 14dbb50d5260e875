import Foundation
import NIOCore

/// The reason why a mock server could not be started, or a ledger could not be read.
public struct MockError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault in words, for people.
    public let what: String

    package init(_ what: String) { self.what = what }

    /// The text of ``what``.
    public var description: String { what }
}

extension MockError {
    /// - Parameter cause: an error of the system, of Foundation or of NIO, of which only the reason is told.
    package init(_ what: String, because cause: any Error) { self.init("\(what): \(Self.words(cause))") }

    private static func words(_ error: any Error) -> String {
        if let error = error as? IOError { return words(ofSystem: Int(error.errnoCode)) }
        let error = error as NSError
        let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? error
        return cause.domain == NSPOSIXErrorDomain ? words(ofSystem: cause.code) : error.localizedDescription
    }

    private static func words(ofSystem code: Int) -> String {
        let text = NSError(domain: NSPOSIXErrorDomain, code: code).localizedDescription
        // Before it stands that the operation could not be completed.
        return text.split(separator: ". ").last.map(String.init) ?? text
    }
}
