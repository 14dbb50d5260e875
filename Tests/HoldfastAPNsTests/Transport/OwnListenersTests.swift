import NIOCore
import Testing

@testable import HoldfastTransport

@Suite("Addresses on which this process listens") struct OwnListenersTests {
    private func take(_ wanted: String, _ port: Int = 443, listening: String...) throws -> Bool {
        let listeners = OwnListeners()
        for ip in listening { listeners.opened(try SocketAddress(ipAddress: ip, port: 443)) }
        return listeners.take(try SocketAddress(ipAddress: wanted, port: port))
    }

    @Test("A listener takes its own address and port, and no other") func exact() throws {
        #expect(try take("127.0.0.1", listening: "127.0.0.1"))
        #expect(try take("::1", listening: "127.0.0.1", "::1"))
        #expect(try !take("127.0.0.2", listening: "127.0.0.1"))
        #expect(try !take("127.0.0.1", 2197, listening: "127.0.0.1"))
        #expect(try !take("17.188.143.34", listening: "127.0.0.1"))
        #expect(try !take("127.0.0.1"))
    }

    @Test("IPv4 is the same in the form of IPv6") func mapped() throws {
        #expect(try take("::ffff:127.0.0.1", listening: "127.0.0.1"))
        #expect(try take("127.0.0.1", listening: "::ffff:127.0.0.1"))
    }

    @Test("The address of none is loopback: a listener there takes it, and no other does") func unspecified() throws {
        for wanted in ["0.0.0.0", "::", "::ffff:0.0.0.0"] {
            for listener in ["127.0.0.1", "::1", "0.0.0.0", "::"] {
                #expect(try take(wanted, listening: listener), "\(wanted) \(listener)")
            }
            #expect(try !take(wanted, listening: "192.0.2.1"))
            #expect(try !take(wanted, 80, listening: "127.0.0.1"))
        }
    }

    @Test(
        "A listener on every address takes each of this machine's, and none of another", arguments: ["0.0.0.0", "::"])
    func wildcard(listener: String) throws {
        for ip in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0"] { #expect(try take(ip, listening: listener), "\(ip)") }
        for device in try System.enumerateDevices() {
            guard let ip = device.address?.ipAddress, !ip.contains("%") else { continue }
            #expect(try take(ip, listening: listener), "\(ip)")
        }
        #expect(try !take("17.188.143.34", listening: listener))
        #expect(try !take("127.0.0.1", 80, listening: listener))
    }

    @Test("An address is taken until its last listener has closed") func closed() throws {
        let listeners = OwnListeners()
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 443)
        listeners.opened(address)
        listeners.opened(address)
        listeners.closed(address)
        #expect(listeners.take(address))
        listeners.closed(address)
        #expect(!listeners.take(address))
    }
}
