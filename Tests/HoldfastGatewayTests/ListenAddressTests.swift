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

    @Test("What others reach is not loopback")
    func elsewhere() throws {
        #expect(try !ListenAddress("0.0.0.0:2197").isLoopback)
        #expect(try !ListenAddress("[::]:2197").isLoopback)
        #expect(try !ListenAddress("127.example.com:2197").isLoopback)
        #expect(try !ListenAddress("127.0.0.1.2:2197").isLoopback)
    }
}
