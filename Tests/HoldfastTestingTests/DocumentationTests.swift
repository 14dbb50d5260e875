import Foundation
import Testing

@Suite("The page on testing")
struct DocumentationTests {
    @Test(
        "It quotes its examples to the letter",
        arguments: [
            "HoldfastTestingTests/TestingExample.swift", "HoldfastTestingTests/ConnectorConformanceExample.swift",
            "HoldfastJournalTests/JournalConformanceTests.swift",
        ])
    func quotes(example: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("Docs/Guide/Testing.md"), encoding: .utf8)
        let text = try String(contentsOf: root.appendingPathComponent("Tests/\(example)"), encoding: .utf8)
        #expect(page.contains("```swift\n\(text)```\n"))
    }
}
