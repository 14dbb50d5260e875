internal import Foundation
package import Holdfast
internal import HoldfastOpenSSL

/// A small file that a configuration names.
package struct ConfigurationFile {
    /// Bytes. Keys and certificates have a few thousand; the system's certificates in one file some hundred thousand.
    static let greatestSize = 8 << 20

    /// Reads the whole file.
    ///
    /// - Parameter what: its expected content, for people: "signing key".
    /// - Throws: an error that names the file and why it can't be read.
    package static func read(_ path: String, as what: String) throws(TransportConfigurationError) -> [UInt8] {
        let name = "the \(what) \(path)"
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let bytes = Array(try file.read(upToCount: greatestSize + 1) ?? Data())
            try file.close()
            guard bytes.count <= greatestSize else {
                throw TransportConfigurationError(
                    "\(name) has more than \(greatestSize >> 20) MB: it is something else")
            }
            return bytes
        } catch let error as TransportConfigurationError {
            throw error
        } catch let error as CocoaError {
            let why: String
            switch error.code {
            case .fileReadNoSuchFile, .fileNoSuchFile: why = "there is no such file"
            case .fileReadNoPermission: why = "it may not be read by this user"
            default: why = FileFailure.words(error)
            }
            throw TransportConfigurationError("\(name) can't be read: \(why)")
        } catch {
            throw TransportConfigurationError("\(name) can't be read: \(FileFailure.words(error))")
        }
    }
}

extension TrustedCertificates {
    /// The file that they are read from; nil where there is none.
    package var file: String? { if case .file(let path) = self { path } else { nil } }

    /// SHA-256 of that file; nil where there is none.
    ///
    /// - Throws: an error that names the file and why it can't be read.
    package func digest() throws(TransportConfigurationError) -> [UInt8]? {
        guard let file else { return nil }
        let bytes = try ConfigurationFile.read(file, as: "trusted certificate file")
        do throws(OpenSSLError) {
            return try SHA256.digest(bytes.span)
        } catch {
            throw TransportConfigurationError("\(error)")
        }
    }
}

extension CredentialSource {
    /// Its name and place, for people.
    package func named(_ what: String) -> String {
        switch self {
        case .file(let path): "\(what) \(path)"
        case .bytes: "\(what) that was given as text or bytes"
        }
    }

    /// Reads its content.
    ///
    /// - Throws: an error that names the file and why it can't be read.
    package func read(as what: String) throws(TransportConfigurationError) -> [UInt8] {
        switch self {
        case .file(let path): try ConfigurationFile.read(path, as: what)
        case .bytes(let bytes): bytes
        }
    }
}

extension Passphrase {
    /// Reads its bytes; of a file, the first line.
    ///
    /// - Throws: an error that names the file and why it can't be read.
    package func read() throws(TransportConfigurationError) -> [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .file(let path):
            Array(try ConfigurationFile.read(path, as: "passphrase file").prefix { $0 != 0x0a && $0 != 0x0d })
        }
    }
}
