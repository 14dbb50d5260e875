import Foundation
import Testing

@testable import HoldfastTool

@Suite("Version")
struct ProgramVersionTests {
    @Test("--version names the program, its commit, Swift and both libraries, each with a version, one a line")
    func version() async throws {
        let result = try await Tool.run("--version")
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.map(\.first) == ["holdfast", "commit", "Swift", "LMDB", "OpenSSL"])
        #expect(lines.allSatisfy { $0.count == 2 })
        #expect(lines.first?.last == ProgramVersion.number)
        #expect(lines.suffix(2).allSatisfy { $0.last?.first?.isNumber == true })
    }
}
