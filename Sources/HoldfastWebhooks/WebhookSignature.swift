internal import Foundation
internal import HoldfastOpenSSL

/// The header `webhook-signature` of Standard Webhooks: HMAC with SHA-256 over id, time and body.
enum WebhookSignature {
    /// - Parameter timestamp: Unix seconds, as in `webhook-timestamp`.
    /// - Returns: `v1,` and Base64; of several secrets, one behind the other.
    static func value(
        id: String, timestamp: Int64, body: [UInt8], secret: WebhookSecret
    ) throws(OpenSSLError) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        var values: [String] = []
        for key in secret.keys {
            let code = try HMACSHA256.code(signed.span, key: key.span)
            values.append("v1," + Data(code).base64EncodedString())
        }
        return values.joined(separator: " ")
    }
}
