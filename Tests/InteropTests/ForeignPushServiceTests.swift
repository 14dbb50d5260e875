import Holdfast
import HoldfastAPNs
import Testing

/// The engine and the real connector, over TLS, to HTTP/2 servers that we did not write: as they are, and as narrow and
/// restless as they can be configured.
@Suite("The connector against foreign push services", .serialized, .timeLimit(.minutes(5)))
struct ForeignPushServiceTests {
    // Each is skipped where its program is not installed, unless HOLDFAST_REQUIRE_FOREIGN=1.
    @Suite(
        "Python's h2", .serialized,
        .enabled("Debian package python3-h2 is not installed") { await PythonH2.shouldTest() })
    struct Python {
        @Test(
            "Delivers everything once, with windows and SETTINGS as they come",
            arguments: ["none", "small-windows", "settings-games"])
        func delivers(fault: String) async throws {
            try await ForeignPushService.python(fault: fault) { service in
                let delivery = try await Delivery.run(1500, to: service)
                delivery.expectNothingLost()
                // 15 tokens are unregistered, it says.
                #expect(delivery.status.confirmed == 1485 && delivery.lost == 15 && delivery.duplicates == 0)
                if fault == "settings-games" { #expect(delivery.faults > 20) }
            }
        }
    }

    @Test(
        "Node: GOAWAY every 400 requests, other SETTINGS every 150",
        .enabled(if: Foreign.shouldTest("node"), "Debian package nodejs is not installed"))
    func node() async throws {
        let options = #"{"goAwayEvery":400,"changeEvery":150,"settings":{"initialWindowSize":500}}"#
        try await ForeignPushService.node(options: options) { service in
            let delivery = try await Delivery.run(1500, to: service)
            delivery.expectNothingLost()
            #expect(delivery.status.confirmed == 1500 && delivery.lost == 0 && delivery.duplicates == 0)
            #expect(delivery.status.requeued > 0, "no GOAWAY took anything back")
        }
    }

    @Test(
        "nginx: small windows, few streams, GOAWAY every 300 requests",
        .enabled(if: Foreign.shouldTest("nginx"), "Debian package nginx is not installed"),
        arguments: [(0, 8), (65_536, 128)])
    func nginx(window: Int, streams: Int) async throws {
        try await ForeignPushService.nginx(window: window, streams: streams, requests: 300) { service in
            let delivery = try await Delivery.run(1500, to: service)
            delivery.expectNothingLost()
            #expect(delivery.status.confirmed == 1500 && delivery.lost == 0)
        }
    }

    @Test(
        "nghttpd: small windows at the stream and the connection, no table, one stream or a hundred",
        .enabled(if: Foreign.shouldTest("nghttpd"), "Debian package nghttp2-server is not installed"),
        arguments: [["-m", "100"], ["-m", "100", "-w", "8", "-W", "8", "-c", "0"], ["-m", "1"]])
    func nghttpd(options: [String]) async throws {
        let count = 1000
        try await ForeignPushService.nghttpd(options, tokens: (0..<count).map(Delivery.token)) { service in
            let delivery = try await Delivery.run(count, to: service, keepsLedger: false)
            #expect(delivery.rest == .drained && delivery.status.confirmed == count)
            #expect(delivery.status.possibleDuplicates == 0)
        }
    }

    // Not installed by Scripts/bootstrap: its 460 MB are much for one more peer.
    @Test(
        "Go's net/http: GOAWAY every 300 requests",
        .enabled(if: Foreign.path(of: "go") != nil, "Debian package golang-go is not installed"))
    func go() async throws {
        try await ForeignPushService.go(goAwayEvery: 300) { service in
            let delivery = try await Delivery.run(1500, to: service)
            delivery.expectNothingLost()
            #expect(delivery.status.confirmed == 1500 && delivery.lost == 0)
        }
    }
}
