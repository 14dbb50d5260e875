internal import ArgumentParser
internal import Foundation

/// Tags to pause or resume: as text, or in base64 where their bytes are none.
struct TagArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The tag, exactly as the notifications have it.", valueName: "tag"))
    var tags: [String] = []

    @Option(
        name: .long, parsing: .singleValue,
        help: ArgumentHelp(
            "A tag whose bytes are not UTF-8, in base64, as `tags list --json` has it (tag-base64). May be repeated.",
            valueName: "base64"))
    var tagBase64: [String] = []

    var isEmpty: Bool { tags.isEmpty && tagBase64.isEmpty }

    /// The tags' bytes, in the order given. ``validate()`` has checked the base64.
    var all: [[UInt8]] { tags.map { Array($0.utf8) } + tagBase64.compactMap(Self.bytes) }

    private static func bytes(_ base64: String) -> [UInt8]? { Data(base64Encoded: base64).map { [UInt8]($0) } }

    func validate() throws {
        for text in tagBase64 where Self.bytes(text) == nil {
            throw ValidationError("\(text.debugDescription) is not base64.")
        }
        for tag in all where !(1...256).contains(tag.count) {
            throw ValidationError("A tag has 1 to 256 bytes, not \(tag.count).")
        }
    }
}
