import HoldfastGateway
import Testing

@Suite("Addresses to listen on")
struct ListenAddressTests {
    @Test(
        "Hosts, addresses and ports are read",
        arguments: [
            ("127.0.0.1:2197", "127.0.0.1", 2197), ("localhost:0", "localhost", 0), ("[::1]:65535", "::1", 65535),
        ])
    func reads(text: String, host: String, port: Int) throws {
        let address = try ListenAddress(text)
        #expect(address == ListenAddress(host: host, port: port))
        #expect(address.isLoopback)
        #expect(address.description == text)
    }

    @Test(
        "What is no address is refused with what is wrong about it",
        arguments: [
            ("127.0.0.1", "no port"), ("127.0.0.1:65536", "no port"), ("::1:2197", "[ and ]"), (":2197", "no host"),
            ("", "no port"),
        ])
    func refuses(text: String, why: String) {
        let error = #expect(throws: GatewayError.self) { try ListenAddress(text) }
        #expect(error?.message.contains(why) == true)
        #expect(error?.kind == .configuration)
    }

    @Test(
        "Two listeners exclude each other where one address and port would be both's",
        arguments: [
            ("127.0.0.1:1", "127.0.0.1:1", true), ("LocalHost:1", "localhost:1", true),
            ("0.0.0.0:1", "127.0.0.1:1", true),
            ("[::]:1", "127.0.0.1:1", true), ("[::1]:1", "[::]:1", true), ("127.0.0.1:1", "127.0.0.2:1", false),
            ("127.0.0.1:1", "127.0.0.1:2", false), ("127.0.0.1:0", "127.0.0.1:0", false),
            ("0.0.0.0:1", "[::1]:1", false),
        ])
    func excludes(one: String, other: String, expected: Bool) throws {
        let (one, other) = (try ListenAddress(one), try ListenAddress(other))
        #expect(one.excludes(other) == expected)
        #expect(other.excludes(one) == expected)
    }

    @Test("What others reach is not loopback")
    func elsewhere() throws {
        #expect(try !ListenAddress("0.0.0.0:2197").isLoopback)
        #expect(try !ListenAddress("[::]:2197").isLoopback)
        #expect(try !ListenAddress("127.example.com:2197").isLoopback)
        #expect(try !ListenAddress("127.0.0.1.2:2197").isLoopback)
    }
}
