import Foundation
import Holdfast
import HoldfastOpenSSL
import NIOCore
import Testing

@testable import HoldfastAPNs

@Suite struct APNsEndpointTests {
    @Test(
        "Endpoints are read as people write them",
        arguments: [
            ("production", "https://api.push.apple.com:443"), ("sandbox", "https://api.sandbox.push.apple.com:443"),
            ("https://example.com", "https://example.com:443"),
            ("https://example.com:2197/", "https://example.com:2197"),
            ("production:2197", "https://api.push.apple.com:2197"),
            ("sandbox:2197", "https://api.sandbox.push.apple.com:2197"),
            ("production:443", "https://api.push.apple.com:443"), ("https://[::1]:8443", "https://[::1]:8443"),
            ("https://[::1]", "https://[::1]:443"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"), ("http://[::1]", "http://[::1]:80"),
            ("https://xn--bcher-kva.example.com", "https://xn--bcher-kva.example.com:443"),
            ("https://a_b.Example.", "https://a_b.example.:443"),
            ("https://[fe80::1%eth0]", "https://[fe80::1%eth0]:443"),
            ("http://127.9.8.7", "http://127.9.8.7:80"), ("http://localhost:80", "http://localhost:80"),
        ])
    func good(_ text: String, _ meaning: String) throws {
        #expect(try APNsEndpoint(text).description == meaning)
    }

    @Test(
        "What is no endpoint is refused, and named",
        arguments: [
            "", "production:80", "example.com", "ftp://example.com", "https://", "https://host:0", "https://host:99999",
            "https://host:x",
            "https://host/3/device", "https://user@host", "http://example.com:80", "http://127.0.0.1.evil.example:80",
            "http://127.evil", "http://127.1", "http://localhost.evil.example", "http://0.0.0.0", "http://192.0.2.1",
            "https://b\u{FC}cher.example.com", "https://a b", "https://*.example.com", "https://svc%00.evil",
            "https://host\n", "https://[host]", "https://[1.2.3.4]", "https://[::1%]", "https://a,b",
            "https://a\u{2024}b",
        ])
    func bad(_ text: String) {
        let error = #expect(throws: APNsConfigurationError.self) { try APNsEndpoint(text) }
        #expect(error?.message.contains(text.debugDescription) == true)
    }
}

@Suite struct ConnectorConfigurationTests {
    @Test("A name with letters that DNS does not have is refused with the way to write it") func otherLetters() throws {
        let error = #expect(throws: APNsConfigurationError.self) {
            try APNsEndpoint("https://b\u{FC}cher.example.com")
        }
        #expect(error?.message.contains("as xn--…") == true)
        var configuration = APNsConnector.Configuration(endpoint: .sandbox)
        configuration.serverName = "b\u{FC}cher.example.com"
        let refused = #expect(throws: APNsConfigurationError.self) { try APNsConnector(configuration) }
        #expect(refused?.message.contains("as xn--…") == true)
    }

    private func file(_ content: String) throws -> String {
        let path = NSTemporaryDirectory() + UUID().uuidString
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test("A missing CA file is named") func missingCA() throws {
        let configuration = APNsConnector.Configuration(endpoint: .sandbox, trust: .file("/nowhere/ca.pem"))
        let error = #expect(throws: APNsConfigurationError.self) { try APNsConnector(configuration) }
        #expect(error?.message.contains("/nowhere/ca.pem") == true)
        #expect(error?.message.contains("no such file") == true)
    }

    @Test("A CA file that holds no certificate is named") func emptyCA() throws {
        for content in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            let path = try file(content)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let configuration = APNsConnector.Configuration(endpoint: .sandbox, trust: .file(path))
            let error = #expect(throws: APNsConfigurationError.self) { try APNsConnector(configuration) }
            #expect(error?.message.contains(path) == true)
        }
    }

    @Test("A signing key that is none is named, and so is what it is instead") func badKey() throws {
        let path = try file("hello")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let error = #expect(throws: APNsConfigurationError.self) {
            try APNsSigningKey(file: path, keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
        #expect(error?.message.contains(path) == true)
        #expect(throws: APNsConfigurationError.self) {
            try APNsSigningKey(file: "/nowhere/key.p8", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
        }
    }

    @Test("A key id that would break the token's JSON is refused") func badKeyID() throws {
        let path = try file(String(decoding: try ES256PrivateKey().pem(), as: UTF8.self))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(throws: APNsConfigurationError.self) { try APNsSigningKey(file: path, keyID: "a\"b", teamID: "T") }
        #expect(throws: APNsConfigurationError.self) { try APNsSigningKey(file: path, keyID: "K", teamID: "") }
    }
}

@Suite struct HostNameTests {
    @Test("A host name means the same in capitals, and so does its service")
    func capitals() throws {
        #expect(try APNsEndpoint("https://API.Push.Apple.COM") == .production)
        #expect(try APNsEndpoint("https://API.sandbox.push.apple.com:2197").service == APNsEndpoint.sandbox.service)
        #expect(try APNsEndpoint("http://LOCALHOST:80").isCleartext)
    }
}

@Suite struct ErrorBodyTests {
    @Test("Reason and timestamp are read, to the millisecond") func reads() {
        let body = ErrorBody(Array(#"{"reason":"Unregistered","timestamp":1700000000123}"#.utf8))
        #expect(body.reason == "Unregistered")
        #expect(body.timestamp == WallTime(milliseconds: 1_700_000_000_123))
    }

    @Test(
        "Whatever else the body is, it is no crash and no reason",
        arguments: [
            "", "[]", "null", "{\"reason\":5}", "{\"reason\"", "{\"timestamp\":\"x\"}", "{\"timestamp\":1e400}",
            "\u{0}\u{1}", #"{"reason":"Unregistered""#, #"{"reason":"Unregistered","timestamp":17957"#,
            #"{"reason":"Unregistered",,,,, not JSON at all"#, #"{"reason":"BadDeviceToken"}<html>"#,
            #"{"reason":"BadDeviceToken"}{"reason":"x"}"#, #"{"reason":"BadCollapseId" <br> nginx"#,
        ])
    func foreign(_ text: String) {
        let body = ErrorBody(Array(text.utf8))
        #expect(body.reason == nil)
        #expect(body.timestamp == nil)
    }
}
