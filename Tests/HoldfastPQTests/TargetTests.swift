import Foundation
import Synchronization
import TestPostgres
import Testing

@testable import HoldfastPQ

@Suite("Connection strings")
struct TargetTests {
    private func options(_ text: String) throws -> [[String: String]] {
        let target = try PQTarget(text)
        return target.places.map { target.options(for: $0, role: target.role, applicationName: "holdfast") }
    }

    @Test("Keywords and URIs are read by libpq, and described without the password")
    func forms() throws {
        for text in [
            "host=db.example port=6543 dbname=push user=holdfast password=hunter2",
            "postgresql://holdfast:hunter2@db.example:6543/push",
        ] {
            let target = try PQTarget(text)
            #expect(target.description == "push at db.example:6543")
            #expect(target.user == "holdfast")
            #expect(try options(text)[0]["password"] == "hunter2")
            var everything = "\(target) \(String(reflecting: target))"
            dump(target, to: &everything)
            #expect(!everything.contains("hunter2"))
        }
    }

    @Test(
        "What can't be read is refused without quoting anything",
        arguments: [
            "host=a password=hunter2 hunter3", "postgresql://u:hunter2%zz@h/d", "postgresql://u:hunter2@h:x:y/d?a",
            "host=a password=it's hunter2 open='hunter3", "host=a hunter2=hunter3", "host=a\0 password=hunter2",
            "postgresql://h/d?password=hunter2&hunter3=1",
        ])
    func unreadable(text: String) {
        let error = failure(.configuration) { try PQTarget(text) }
        #expect(error?.description.contains("hunter") == false, "\(error?.description ?? "")")
        #expect(error?.description.contains("PostgreSQL") == true)
    }

    @Test(
        "Values that libpq would find out about while it connects are refused at once",
        arguments: [
            "host=a port=0", "host=a port=x", "host=a,b port=1,2,3", "host=a,b hostaddr=127.0.0.1",
            "host=a sslmode=nonsense", "host=a target_session_attrs=nonsense", "host=a service=x",
            "host=a ssl_min_protocol_version=TLSv1.1", "host=a sslrootcert=/nowhere/root.crt",
        ])
    func unusable(text: String) {
        failure(.configuration) { try PQTarget(text) }
    }

    @Test("The server must prove its name, unless nobody else can listen or the string says otherwise")
    func security() throws {
        func mode(_ text: String) throws -> String? { try options(text)[0]["sslmode"] }
        #expect(try mode("host=db.example") == "verify-full")
        #expect(try mode("host=10.0.0.1") == "verify-full")
        #expect(try mode("host=db.example hostaddr=127.0.0.1") == "verify-full")
        #expect(try mode("host=/run/postgresql") == "prefer")
        #expect(try mode("hostaddr=127.0.0.1") == "prefer")
        #expect(try mode("host=db.example sslmode=require") == "require")
        #expect(try mode("host=/run/postgresql sslmode=verify-full") == "verify-full")
        // Names are local by their address only.
        let target = try PQTarget("host=localhost,db.example")
        for (address, expected) in [("127.0.0.1", "prefer"), ("::1", "prefer"), ("192.0.2.1", "verify-full")] {
            var place = target.places[0]
            place.address = address
            #expect(target.options(for: place, role: .any, applicationName: "")["sslmode"] == expected)
            place = target.places[1]
            place.address = address
            #expect(target.options(for: place, role: .any, applicationName: "")["sslmode"] == "verify-full")
        }
    }

    @Test("TLS 1.2 is the least, Kerberos is not tried, and a silent peer is noticed, unless the string says otherwise")
    func standards() throws {
        let standard = try options("host=db.example")[0]
        #expect(standard["ssl_min_protocol_version"] == "TLSv1.2")
        #expect(standard["gssencmode"] == "disable")
        #expect(standard["tcp_user_timeout"] == "25000")
        #expect(standard["application_name"] == "holdfast")
        #expect(standard["client_encoding"] == "UTF8")
        let own = try options(
            "host=db.example tcp_user_timeout=7 ssl_min_protocol_version=TLSv1.3 application_name=mine")[0]
        #expect(own["tcp_user_timeout"] == "7")
        #expect(own["ssl_min_protocol_version"] == "TLSv1.3")
        #expect(own["application_name"] == "mine")
    }

    @Test("Settings at the start of a session come behind the string's own options, each a word of its own")
    func startUp() throws {
        let settings = PQSession(applicationName: "tests", statementTimeout: .seconds(7)).startUp
        func words(_ text: String, _ settings: [String: String]) throws -> String? {
            let target = try PQTarget(text)
            return target.options(for: target.places[0], role: .any, applicationName: "", settings: settings)["options"]
        }
        #expect(settings["statement_timeout"] == "7000" && settings["transaction_timeout"] == nil)
        let found = try #require(try words("host=a options='-c geqo=off'", settings))
        #expect(found.hasPrefix("-c geqo=off -c client_min_messages=warning -c "), "\(found)")
        #expect(found.contains(#" -c default_transaction_isolation=read\ committed -c "#), "\(found)")
        #expect(found.hasSuffix(" -c statement_timeout=7000 -c synchronous_commit=on"), "\(found)")
        let own = ["a": #"b\c"#]
        #expect(try words(#"host=a options='-c x=y\\'"#, own) == #"-c x=y -c a=b\\c"#)
        #expect(try words(#"host=a options='-c x=y\\\\'"#, own) == #"-c x=y\\ -c a=b\\c"#)
        #expect(try words("host=a options='-c geqo=off'", [:]) == "-c geqo=off")
        let taken = PQSession(applicationName: "tests", settings: ["synchronous_commit": "local"])
        #expect(taken.startUp["synchronous_commit"] == nil)
    }

    @Test("Each host of a list is a place of its own, with its port and its role")
    func lists() throws {
        let text = "host=a,b hostaddr=,192.0.2.1 port=1,2 target_session_attrs=read-write"
        let places = try options(text)
        #expect(places.map { $0["host"] } == ["a", "b"])
        #expect(places.map { $0["hostaddr"] } == [nil, "192.0.2.1"])
        #expect(places.map { $0["port"] } == ["1", "2"])
        #expect(places.allSatisfy { $0["target_session_attrs"] == "read-write" })
        #expect(try options("host=a,b port=7").map { $0["port"] } == ["7", "7"])
    }

    @Test("A resolver that hangs is left at the deadline, is found again by the next, and holds one thread")
    func resolver() throws {
        let calls = Mutex(0)
        let gate = DispatchSemaphore(value: 0)
        let resolve: @Sendable (String) -> Result<[String], PQError> = { _ in
            calls.withLock { $0 += 1 }
            gate.wait()
            return .success(["192.0.2.7"])
        }
        let interruption = try PQInterruption()
        let name = "hangs-\(UUID().uuidString)"
        for _ in 0..<3 {
            let start = ContinuousClock.now
            failure(.unreachable, cause: .deadline) {
                try HostLookup.addresses(of: name, Patience(deadline: soon(0.05), interruption: interruption), resolve)
            }
            #expect(.now - start < .seconds(5))
        }
        let interrupted = try PQInterruption()
        interrupted.interrupt()
        failure(.interrupted) {
            try HostLookup.addresses(of: name, Patience(deadline: soon(), interruption: interrupted), resolve)
        }
        gate.signal()
        let found = try HostLookup.addresses(of: name, Patience(deadline: soon(), interruption: interruption)) { _ in
            .success(["192.0.2.7"])
        }
        #expect(found == ["192.0.2.7"])
        #expect(calls.withLock { $0 } == 1)
    }
}
