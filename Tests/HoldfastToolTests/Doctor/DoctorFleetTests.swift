import Foundation
import Holdfast
import TestPostgres
import Testing

@Suite("holdfast doctor on a host of a fleet", .serialized, .enabled(if: PostgresProgram.isWanted))
struct DoctorFleetTests {
    @Test("It finds the database, what that survives, and the lease of a host's journal; and a database that is away")
    func database() async throws {
        let world = try await FleetWorld("alpha")
        let result = try await world.tool(on: "alpha", "doctor", "--json", "--no-probe")
        let findings = try #require(try result.json()["findings"] as? [[String: Any]], "\(result.errors)")
        func found(_ check: String) -> [String] {
            findings.filter { $0["check"] as? String == check }.map { "\($0["level"] ?? "") \($0["found"] ?? "")" }
        }
        #expect(found("database").first?.hasPrefix("ok") == true, "\(result.output)")
        #expect(found("lease") == ["ok host alpha renews it"], "\(result.output)")
        #expect(found("answer").first?.hasPrefix("ok") == true, "\(result.output)")
        #expect(!found("durability").isEmpty)
        try world.configure("beta", user: world.service, port: 1)
        let away = try await world.tool(on: "beta", "doctor")
        #expect(away.status == 78 && away.output.contains("fault    database"), "\(away.output)")
    }
}
