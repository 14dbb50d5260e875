import Testing

@testable import HoldfastTool

@Suite("Flags that are given twice")
struct RepeatedFlagTests {
    @Test(
        "A flag with one value may stand once, in either form",
        arguments: [
            (["--uid", "1", "--uid", "2"], "--uid"), (["--uid=1", "--tag", "--uid=2"], "--uid"), (["--uid", "1"], nil),
            (["--tag", "a", "--uid", "1"], nil), (["--all", "--all"], nil), (["--uid", "1", "--", "--uid"], nil),
        ] as [([String], String?)])
    func once(arguments: [String], flag: String?) {
        #expect(RepeatedFlag.first(of: ["--uid", "--tag"], in: arguments) == flag)
    }
}
