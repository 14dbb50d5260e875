internal import Holdfast
internal import HoldfastOpenSSL

/// The signed JWT that an access token is fetched with (developers.google.com: *Using OAuth 2.0 for Server to Server
/// Applications*; RFC 7523).
package struct Assertion {
    /// What an access token may be used for.
    package static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// The most that Google allows, in seconds.
    package static let lifetime: Int64 = 3600
    package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

    let text: String

    init(_ account: ServiceAccount, at time: WallTime) throws(FCMConfigurationError) {
        let kid = account.keyID.isEmpty ? "" : #","kid":"\#(JSONText.escaped(account.keyID))""#
        let header = #"{"alg":"RS256","typ":"JWT"\#(kid)}"#
        let claims =
            #"{"iss":"\#(JSONText.escaped(account.clientEmail))","scope":"\#(Self.scope)","#
            + #""aud":"\#(JSONText.escaped(account.tokenURI))","iat":\#(time.seconds),"exp":\#(time.seconds + Self.lifetime)}"#
        var bytes = Base64URL.encode(Array(header.utf8).span)
        bytes.append(UInt8(ascii: "."))
        bytes += Base64URL.encode(Array(claims.utf8).span)
        do throws(OpenSSLError) {
            let signature = try account.key.sign(bytes.span)
            bytes.append(UInt8(ascii: "."))
            bytes += Base64URL.encode(signature.span)
        } catch {
            throw FCMConfigurationError("an assertion for an access token can't be signed: \(error)")
        }
        text = String(decoding: bytes, as: UTF8.self)
    }

    /// The body of the request, in the form of HTML forms.
    var form: [UInt8] {
        let grant = Self.grantType.replacing(":", with: "%3A")
        return Array("grant_type=\(grant)&assertion=\(text)".utf8)
    }
}
