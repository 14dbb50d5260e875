import Foundation
import HoldfastOpenSSL

/// The id in the ledger of a message that has none of its own.
package enum MessageMark {
    /// A digest of a message of Google's, of 32 hexadecimal digits; nil for one that can't be read. Its target makes no
    /// difference, and neither do `android` and `androidV2`, whose time to live differs from attempt to attempt.
    package static func digest(of message: [UInt8]) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(message)) as? [String: Any]).map(digest)
    }

    static func digest(_ message: [String: Any]) -> String {
        var content = message
        for name in FCMMessage.kinds + ["android", "androidV2", "android_v2"] { content[name] = nil }
        let json = (try? JSONSerialization.data(withJSONObject: content, options: .sortedKeys)) ?? Data()
        let digest = (try? SHA256.digest(Array(json).span)) ?? []
        return digest.prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
