import Testing

@testable import Holdfast
@testable import HoldfastRequests

@Suite struct HTTPDateTests {
    @Test(
        "The three forms of a date in HTTP mean one time",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Tuesday, 06-Nov-29 08:49:37 GMT", 1_888_649_377), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Fri, 31 Dec 2100 12:00:00 GMT", 4_133_937_600),
        ] as [(String, Int64)])
    func good(_ text: String, _ seconds: Int64) {
        #expect(HTTPDate(text)?.time == WallTime(seconds: seconds))
    }

    @Test(
        "What is no date is none",
        arguments: [
            "", "120", "soon", "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nix 1994 08:49:37 GMT",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37:1 GMT",
        ])
    func bad(_ text: String) { #expect(HTTPDate(text) == nil) }
}
