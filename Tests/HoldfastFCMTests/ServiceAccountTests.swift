import Foundation
import HoldfastOpenSSL
import HoldfastRequests
import Testing

@testable import Holdfast
@testable import HoldfastFCM

@Suite("Service accounts") struct ServiceAccountTests {
    private static let key = Result { String(decoding: try RS256PrivateKey().pem(), as: UTF8.self) }

    /// The fields of a good file; nil takes one away.
    private func file(_ changes: [String: String?] = [:]) throws -> [UInt8] {
        var fields: [String: String] = [
            "type": "service_account", "project_id": "my-app", "private_key_id": "abc123",
            "private_key": try Self.key.get(), "client_email": "sender@my-app.iam.gserviceaccount.com",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        for (name, value) in changes { fields[name] = value }
        return Array(try JSONSerialization.data(withJSONObject: fields))
    }

    private func fault(_ bytes: [UInt8]) -> String {
        do {
            _ = try ServiceAccount(.bytes(bytes))
            return "no error"
        } catch {
            return error.message
        }
    }

    @Test("A file as Google gives it is read") func good() throws {
        let account = try ServiceAccount(.bytes(try file()))
        #expect(account.projectID == "my-app")
        #expect(account.clientEmail == "sender@my-app.iam.gserviceaccount.com")
        #expect(account.keyID == "abc123")
        #expect(account.tokenAddress.host == "oauth2.googleapis.com" && account.tokenAddress.target == "/token")
        #expect(try ServiceAccount(.bytes(try file(["private_key_id": nil]))).keyID == "")
    }

    @Test("Each field that is missing is named", arguments: ["project_id", "client_email", "private_key", "token_uri"])
    func missing(field: String) throws {
        for value in [nil, ""] as [String?] { #expect(fault(try file([field: value])).contains("has no \"\(field)\"")) }
    }

    @Test("Each field that is wrong is named, with what it is instead") func wrong() throws {
        let curve = String(decoding: try ES256PrivateKey().pem(), as: UTF8.self)
        #expect(
            fault(try file(["private_key": curve])).contains(
                "\"private_key\" can't be used: this is a P-256 EC private key"))
        #expect(fault(try file(["private_key": "secret"])).contains("this is not PEM"))
        #expect(!fault(try file(["private_key": "secret"])).contains("secret"))
        #expect(fault(try file(["token_uri": "http://example.com/token"])).contains("go there in the clear"))
        #expect(fault(try file(["token_uri": "nonsense"])).contains("\"token_uri\" begins with neither https://"))
        #expect(fault(try file(["project_id": "My App"])).contains("\"My App\" is no project id"))
        #expect(fault(try file(["type": "authorized_user"])).contains("is of type \"authorized_user\""))
        #expect(fault(try file(["type": nil])).contains("has no \"type\""))
        #expect(fault(Array("-----BEGIN PRIVATE KEY-----".utf8)).contains("is no JSON object"))
    }

    @Test("A file that is not there is named") func noFile() {
        #expect(throws: FCMConfigurationError.self) { try ServiceAccount(file: "/nonexistent/account.json") }
    }

    @Test(
        "Google's own library accepts our assertion, with the account, the scope and the times of Google's rules",
        .enabled(if: GoogleAuth.isThere, "google-auth is not installed: Scripts/bootstrap --tests"))
    func assertion() throws {
        let account = try ServiceAccount(.bytes(try file()))
        let now = EngineClock.system.wall()
        let assertion = try Assertion(account, at: now).text
        let publicPEM = String(decoding: try account.key.publicKey.pem(), as: UTF8.self)
        let program = """
            import json, sys
            from google.auth import jwt
            claims = jwt.decode(sys.argv[1], certs=sys.argv[2], audience="https://oauth2.googleapis.com/token")
            print(json.dumps([jwt.decode_header(sys.argv[1]), dict(claims)]))
            """
        let text = try GoogleAuth.run(program, [assertion, publicPEM])
        let parts = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        #expect(parts[0]["alg"] as? String == "RS256" && parts[0]["kid"] as? String == "abc123")
        #expect(parts[1]["iss"] as? String == account.clientEmail)
        #expect(parts[1]["scope"] as? String == "https://www.googleapis.com/auth/firebase.messaging")
        #expect(parts[1]["iat"] as? Int64 == now.seconds && parts[1]["exp"] as? Int64 == now.seconds + 3600)
        // And refuses it for another audience, and once a letter of it is changed.
        let other = program.replacingOccurrences(of: "googleapis.com/token", with: "googleapis.com/other")
        #expect(throws: GoogleAuth.Failure.self) { try GoogleAuth.run(other, [assertion, publicPEM]) }
        let index = assertion.index(assertion.endIndex, offsetBy: -20)
        let forged =
            assertion[..<index] + (assertion[index] == "A" ? "B" : "A") + assertion[assertion.index(after: index)...]
        #expect(throws: GoogleAuth.Failure.self) { try GoogleAuth.run(program, [String(forged), publicPEM]) }
    }
}
