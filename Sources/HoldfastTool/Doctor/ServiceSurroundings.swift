internal import Foundation
internal import HoldfastService

/// What keeps a service from starting that is not of its own files: another process on its addresses, and rights that root does
/// not need.
enum ServiceSurroundings {
    /// For people, a sentence each.
    static func warnings(_ configuration: HoldfastConfiguration) -> [String] {
        let service = ProcessLook.service(configuration.journal)
        let addresses = configuration.listenAddresses.compactMap { name, address in
            ListenLook.look(address, service: service)?.trouble(at: address).map { "listener \(name): \($0)" }
        }
        let unit = UnitFacts.find()
        let user = geteuid() == 0 ? FileLook.serviceUser(journal: configuration.journal.path, unit) : nil
        let credential = FileLook.credential(configuration, unit).flatMap { $0.level == .fault ? $0.found : nil }
        return addresses + FileLook.look(configuration, user: user).hiddenFromService + [credential].compactMap(\.self)
    }
}
