import ArgumentParser
import Foundation
import Holdfast
import HoldfastService
import Testing

@testable import HoldfastTool

@Suite("What a journal remembers of its route") struct RouteTests {
    @Test("The flags of send become the route, and the route is read again as it was written") func remembers() throws {
        let options = try RouteOptions.parse([
            "--endpoint", "binary+tls://gateway.example.com", "--confirm", "quiet", "--quiet-period", "250ms",
            "--connections", "4", "--client-certificate", "/c/cert.pem", "--client-passphrase-file", "/c/phrase",
            "--trust", "/c/ca.pem", "--topic", "com.example",
        ])
        let route = try options.route(remembered: nil, missingEndpoint: "")
        let text = try JSONOutput.line(route)
        #expect(
            text == """
                {"clientCertificate":"/c/cert.pem","clientPassphraseFile":"/c/phrase","confirmation":"quiet",\
                "connections":4,"endpoint":"binary+tls://gateway.example.com","quietPeriodMilliseconds":250,\
                "topic":"com.example","trust":"/c/ca.pem","version":1}
                """)
        #expect(try RouteSettings.decode(Array(text.utf8), journal: "j") == route)
        #expect(route.quietPeriod == .milliseconds(250) && route.name == "default" && route.topics == nil)
        // Without a flag nothing changes.
        #expect(try RouteOptions.parse([]).route(remembered: route, missingEndpoint: "") == route)
    }

    @Test("A route that an older Holdfast noted means what it meant") func older() throws {
        let note = #"{"endpoint":"https://h","keyFile":"/k","keyID":"K","teamID":"T","version":1}"#
        let route = try #require(try RouteSettings.decode(Array(note.utf8), journal: "j"))
        #expect(route.protocol == .http2 && route.connections == nil && route.confirmation == .barrier)
        #expect(route.signingKey == .init(file: "/k", keyID: "K", teamID: "T") && route.quietPeriod == nil)
    }

    @Test("Barriers take the quiet period's place, and another certificate its key's") func replaces() throws {
        var route = RouteSettings(endpoint: "binary+tls://h")
        (route.confirmation, route.quietPeriod) = (.quiet, .milliseconds(250))
        route.certificate = .init(file: "/a.pem", key: "/a.key", passphraseFile: "/a.txt")
        let proven = try RouteOptions.parse(["--confirm", "barrier", "--client-certificate", "/b.p12"])
            .route(remembered: route, missingEndpoint: "")
        #expect(proven.confirmation == .barrier && proven.quietPeriod == nil)
        #expect(proven.certificate == .init(file: "/b.p12"))
    }

    @Test("With an endpoint of the other protocol, what was remembered for the old one is forgotten") func moves()
        throws
    {
        var route = RouteSettings(endpoint: "https://h")
        route.signingKey = .init(file: "/k", keyID: "K", teamID: "T")
        (route.trust, route.defaultTopic, route.connections) = ("/ca", "t", 3)
        let legacy = try RouteOptions.parse(["--endpoint", "binary+tls://h", "--confirm", "quiet"])
            .route(remembered: route, missingEndpoint: "")
        #expect(legacy.signingKey == nil)
        #expect(legacy.trust == "/ca" && legacy.defaultTopic == "t" && legacy.connections == 3)
        let back = try RouteOptions.parse(["--endpoint", "https://h"]).route(remembered: legacy, missingEndpoint: "")
        #expect(back.confirmation == .barrier)
    }
}

@Suite("Saying that silence has cleared a journal") struct SilenceReporterTests {
    private let lane = LaneKey(route: "default", urgency: .immediate, guarantee: .atLeastOnce)

    @Test("It is said when nothing is left, with all that was confirmed since the last time") func clear() {
        var reporter = SilenceReporter(quietPeriod: .seconds(5))
        #expect(reporter.cleared(lane, count: 10, through: UID(10), left: 5, at: .seconds(1)) == nil)
        #expect(
            reporter.cleared(lane, count: 5, through: UID(15), left: 0, at: .seconds(2))
                == "default/immediate/at-least-once: 15 notifications up to 15 confirmed by 5 s of silence; "
                + "the journal is clear")
        #expect(
            reporter.cleared(lane, count: 1, through: UID(16), left: 0, at: .seconds(3))
                == "default/immediate/at-least-once: 1 notification up to 16 confirmed by 5 s of silence; "
                + "the journal is clear")
    }

    @Test("Under constant load, which never leaves it clear, it is said now and then") func load() {
        var reporter = SilenceReporter(quietPeriod: .seconds(5))
        var lines: [String] = []
        for second in 0..<25 {
            let line = reporter.cleared(lane, count: 100, through: UID(9), left: 500, at: .seconds(second))
            if let line { lines.append(line) }
        }
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.hasSuffix("500 left") })
        #expect(lines[0].contains("1,100 notifications") && lines[1].contains("1,000 notifications"))
    }
}
