import Foundation
import Testing

@Suite("The page on channels")
struct DocumentationTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("Its example is code that compiles, to the letter")
    func quotes() throws {
        let blocks = try Self.text("Docs/Guide/Channels.md").components(separatedBy: "```swift\n").dropFirst()
        let example = try Self.text("Tests/HoldfastChannelsTests/ChannelsExample.swift")
        #expect(blocks.count == 1)
        for block in blocks {
            let code = try #require(block.components(separatedBy: "```").first)
            #expect(example.contains(code), "\(code)")
        }
    }
}
