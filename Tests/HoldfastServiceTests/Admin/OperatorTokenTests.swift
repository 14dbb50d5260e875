import Foundation
import Holdfast
import Scratch
import Testing

@testable import HoldfastService

@Suite("The operators' token")
struct OperatorTokenTests {
    private let folder: TemporaryFolder
    private static let text = "0123456789abcdef-._~+/="

    init() throws { folder = try TemporaryFolder() }

    private func token(_ text: String, mode: Int = 0o600) throws -> Result<OperatorToken, OperatorToken.Fault> {
        try folder.write("token", text)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder("token"))
        return Result { () throws(OperatorToken.Fault) in try OperatorToken(file: folder("token")) }
    }

    @Test("Only the whole token is served, presented once as RFC 6750 has it")
    func judged() throws {
        let token = try token(Self.text + "\n").get()
        for good in ["Bearer \(Self.text)", "bearer \(Self.text)", "BEARER   \(Self.text)"] {
            #expect(token.refusal(of: [good]) == nil, "\(good)")
        }
        for missing in [[], [""], ["Bearer"], ["Basic \(Self.text)"], [Self.text]] {
            #expect(token.refusal(of: missing) == .missing, "\(missing)")
        }
        #expect(token.refusal(of: ["Bearer \(Self.text)", "Bearer \(Self.text)"]) == .missing)
        for wrong in [
            "", "0", Self.text.dropLast(), Self.text + "=", Self.text.uppercased(), Self.text + Self.text,
            Self.text + "\n", "\(Self.text) \(Self.text)", String(repeating: "x", count: 10_000),
        ] as [any StringProtocol] {
            #expect(token.refusal(of: ["Bearer \(wrong)"]) != nil, "\(wrong)")
        }
    }

    @Test("A token that is short, long or of other letters is none, and the fault does not say it")
    func contents() throws {
        for bad in [
            "", "\n", "short", String(repeating: "a", count: 15), String(repeating: "a", count: 513),
            "0123456789 abcdef", "0123456789abcdef\n\n", "0123456789abcdef\nmore", "0123456789abcdéf0",
            "Bearer 0123456789abcdef",
        ] {
            guard case .failure(let fault) = try token(bad) else {
                Issue.record("\(bad.debugDescription) was taken")
                continue
            }
            #expect(fault.message.contains(folder("token")) && fault.message.contains("openssl rand"))
            #expect(!fault.message.contains("abcdef"), "\(fault.message)")
        }
        for good in [String(repeating: "a", count: 16), String(repeating: "a", count: 512) + "\r\n"] {
            #expect(throws: Never.self) { try token(good).get() }
        }
        #expect(throws: OperatorToken.Fault.self) { try OperatorToken(file: folder("nothing")) }
        #expect(throws: OperatorToken.Fault.self) { try OperatorToken(file: folder.path) }
    }

    @Test("A file that others may read holds no secret", arguments: [0o644, 0o604, 0o620, 0o602, 0o601])
    func open(mode: Int) throws {
        let fault = #expect(throws: OperatorToken.Fault.self) { try token(Self.text, mode: mode).get() }
        #expect(fault?.message.contains("mode 0\(String(mode, radix: 8))") == true)
        #expect(fault?.message.contains("chmod 600") == true)
        // What a service manager gives to a group of the service's own.
        _ = try token(Self.text, mode: 0o440).get()
    }

    @Test("A new token is taken from the file, and after a fault the former one stays")
    func reloaded() throws {
        let other = String(repeating: "z", count: 20)
        let token = try token(Self.text).get()
        try folder.write("token", other)
        #expect(token.refusal(of: ["Bearer \(Self.text)"]) == nil)
        try token.reload()
        #expect(token.refusal(of: ["Bearer \(Self.text)"]) == .wrong && token.refusal(of: ["Bearer \(other)"]) == nil)
        try folder.write("token", "")
        #expect(throws: OperatorToken.Fault.self) { try token.reload() }
        #expect(token.refusal(of: ["Bearer \(other)"]) == nil)
    }

    @Test("The configuration names the file, and says what is wrong with it")
    func configured() throws {
        try folder.write("token", Self.text)
        func problems(_ admin: String) throws -> [String] {
            try folder.write(
                "c.yaml",
                """
                journal: {path: j}
                routes: [{endpoint: "http://127.0.0.1:1"}]
                gateway: {http2: {listen: "127.0.0.1:1"}}
                admin: {\(admin)}
                """)
            do {
                let configuration = try HoldfastConfiguration.load(file: folder("c.yaml"), environment: [:])
                return ServicePlan.problems(of: configuration).map { "\($0.path): \($0.message)" }
            } catch {
                return error.lines
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder("token"))
        #expect(try problems(#"listen: "127.0.0.1:2", token-file: token"#) == [])
        #expect(try problems("token-file: token").first?.contains("is for `listen`") == true)
        #expect(try problems(#"listen: "127.0.0.1:2", token-file: none"#).first?.contains("there is no file") == true)
        try folder.write("token", "short")
        #expect(
            try problems(#"listen: "127.0.0.1:2", token-file: token"#).first?.hasPrefix("admin.token-file: ") == true)
    }
}
