import Foundation
import Testing

@Suite("The articles of the reference")
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    private static func files(in folder: String, ending: String) -> [URL] {
        let found = FileManager.default.enumerator(
            at: root.appendingPathComponent(folder), includingPropertiesForKeys: nil)
        return (found?.compactMap { $0 as? URL } ?? []).filter { $0.path.hasSuffix(ending) }
    }

    @Test("Each Swift block is a whole file of the tests, to the letter")
    func compiled() throws {
        let examples = Set(
            try Self.files(in: "Tests", ending: ".swift").map { try String(contentsOf: $0, encoding: .utf8) })
        let pages = ["Sources", "Journal"].flatMap { Self.files(in: $0, ending: ".md") }
        var count = 0
        for page in pages {
            let text = try String(contentsOf: page, encoding: .utf8)
            for block in text.components(separatedBy: "```swift\n").dropFirst() {
                let code = try #require(block.components(separatedBy: "```\n").first)
                #expect(examples.contains(code), "\(page.lastPathComponent): \(code.prefix(200))")
                count += 1
            }
        }
        #expect(count >= 8)
    }
}
