private import CHoldfastOpenSSL

/// A refusal of libcrypto, in words for people.
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The attempted action and, where it is known, the actual kind of the input.
    package let what: String
    /// OpenSSL's own error strings, earliest first; empty when OpenSSL reported nothing.
    package let openSSL: String

    package init(_ what: String, openSSL: String = "") {
        self.what = what
        self.openSSL = openSSL
    }

    package var description: String { openSSL.isEmpty ? what : "\(what) (\(openSSL))" }

    /// Takes the errors in this thread's queue, and empties it.
    static func taking(_ what: String) -> OpenSSLError {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            guard reasons.count < 4 else { continue }
            var text = [CChar](repeating: 0, count: 256)
            unsafe ERR_error_string_n(code, &text, text.count)
            let bytes = text.prefix { character in character != 0 }.map { UInt8(bitPattern: $0) }
            reasons.append(String(decoding: bytes, as: UTF8.self))
        }
        return OpenSSLError(what, openSSL: reasons.joined(separator: "; "))
    }
}

/// Turns OpenSSL's "1 is success" into a thrown error.
func check(_ result: CInt, _ what: @autoclosure () -> String) throws(OpenSSLError) {
    guard result == 1 else { throw .taking(what()) }
}

/// Turns OpenSSL's "NULL is failure" into a thrown error.
func check(_ pointer: OpaquePointer?, _ what: @autoclosure () -> String) throws(OpenSSLError) -> OpaquePointer {
    guard let pointer = unsafe pointer else { throw .taking(what()) }
    return unsafe pointer
}
