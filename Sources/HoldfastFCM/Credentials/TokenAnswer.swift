internal import Holdfast

/// The JSON with a token, or with an error (RFC 6749 sections 5.1 and 5.2), as endpoints answer and commands print it.
struct TokenAnswer {
    /// A longer life is not believed: Google's tokens last an hour.
    private static let longestLifetime: Int64 = 86_400

    /// Why there is no token to use, in words behind those for its sender.
    struct Fault: Error {
        let words: String
    }

    /// `invalid_grant`; nil where there is none.
    private(set) var error: String?
    private var token: String?
    private var lifetime: Duration?
    private var fault: Fault?

    /// - Returns: nil for bytes that are no JSON object.
    init?(_ bytes: [UInt8]) {
        do throws(JSONFault) {
            var members = try JSONMembers(bytes.span, in: 0..<bytes.count)
            while let member = try members.next(bytes.span) {
                let (name, value) = (member.name, member.value)
                if JSONScanner.isString(bytes.span, in: name, equalTo: "access_token"), value.kind == .string {
                    token = try JSONScanner.string(bytes.span, in: value.range)
                } else if JSONScanner.isString(bytes.span, in: name, equalTo: "error"), value.kind == .string {
                    error = try JSONScanner.string(bytes.span, in: value.range)
                } else if JSONScanner.isString(bytes.span, in: name, equalTo: "expires_in"), value.kind != .null {
                    take(seconds: try Self.integer(bytes.span, value))
                }
            }
        } catch {
            return nil
        }
    }

    /// The token, and how long it lasts.
    ///
    /// - Parameter lifetime: what is assumed where the answer does not say.
    func grant(orFor lifetime: Duration) throws(Fault) -> (text: String, lifetime: Duration) {
        guard let token else { throw Fault(words: "without an access token") }
        guard AccessToken.isToken(token) else {
            throw Fault(
                words:
                    "with an access token that can stand in no request: it is 1 to \(AccessToken.greatestByteCount) bytes "
                    + "of visible ASCII, without spaces and line breaks")
        }
        if let fault { throw fault }
        return (token, self.lifetime ?? lifetime)
    }

    /// A number, also where it is written as a string, as some endpoints do; nil for anything else.
    private static func integer(_ bytes: Span<UInt8>, _ value: JSONValue) throws(JSONFault) -> Int64? {
        switch value.kind {
        case .string: return Int64(try JSONScanner.string(bytes, in: value.range))
        case .number:
            do throws(JSONFault) { return try JSONScanner.integer(bytes, in: value.range) } catch { return nil }
        default: return nil
        }
    }

    private mutating func take(seconds: Int64?) {
        guard let seconds else {
            fault = Fault(words: "with an expires_in that is no whole number of seconds")
            return
        }
        // One that is over when it comes would be fetched again and again.
        guard Duration.seconds(min(seconds, Self.longestLifetime)) > AccessTokenMachine.margin else {
            fault = Fault(
                words: "with an access token that lasts for \(seconds) s, and none is used in the last "
                    + "\(AccessTokenMachine.margin.words) of its life: expires_in must be greater")
            return
        }
        lifetime = .seconds(min(seconds, Self.longestLifetime))
    }
}
