internal import Foundation
internal import HoldfastTransport
internal import NIOCore

extension ToolError {
    /// For a file or directory that could not be made.
    init(making path: String, _ error: any Error) {
        self.init(
            Self.status(ofFile: error, otherwise: .cannotOpen), "\(path) can't be made: \(FileFailure.words(error))")
    }

    /// The exit code for a failure of the file system.
    static func status(ofFile error: any Error, otherwise status: ToolStatus) -> ToolStatus {
        if let error = error as? IOError { return Self.status(ofSystem: error.errnoCode) ?? status }
        let outer = error as NSError
        let cause = (outer.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError } ?? outer
        if cause.domain == NSPOSIXErrorDomain, let found = Self.status(ofSystem: Int32(truncatingIfNeeded: cause.code))
        {
            return found
        }
        return switch (error as? CocoaError)?.code {
        case .fileReadNoPermission?, .fileWriteNoPermission?, .fileWriteVolumeReadOnly?: .noPermission
        case .fileWriteOutOfSpace?: .inputOutput
        default: status
        }
    }

    private static func status(ofSystem code: Int32) -> ToolStatus? {
        switch code {
        case EACCES, EPERM, EROFS: .noPermission
        case ENOSPC, EDQUOT, EIO: .inputOutput
        default: nil
        }
    }
}
