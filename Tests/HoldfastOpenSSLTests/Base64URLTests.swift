import Foundation
import HoldfastOpenSSL
import Testing

@Suite("Base64 for URLs")
struct Base64URLTests {
    @Test("The examples of RFC 4648 section 10 and RFC 7515 appendix C hold")
    func examples() {
        for (plain, encoded) in [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            #expect(Base64URL.encode(Array(plain.utf8)) == Array(encoded.utf8))
            #expect(Base64URL.decode(encoded) == Array(plain.utf8))
        }
        #expect(Base64URL.encode([3, 236, 255, 224, 193]) == Array("A-z_4ME".utf8))
    }

    @Test("Random bytes come back, and Foundation agrees but for alphabet and padding")
    func againstFoundation() {
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
            let encoded = Base64URL.encode(bytes)
            let foundation = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
            #expect(encoded == Array(foundation.utf8))
            #expect(Base64URL.decode(String(decoding: encoded, as: UTF8.self)) == bytes)
        }
    }

    @Test(
        "What encoding never writes is not decoded",
        arguments: ["Zg==", "Z", "Zm9vY", "Zm9v Zg", "Zm9v\n", "Zh", "Zm9", "+/+/", "Zm9vé", "Zm.v"])
    func refused(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }
}
