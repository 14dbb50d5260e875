internal import Foundation
internal import HoldfastGateway
internal import HoldfastJournal
internal import HoldfastPlatform
internal import HoldfastService

extension ServiceElsewhere {
    /// - Returns: nil where none does, and where this user may not see the files of the process that listens there.
    static func find(_ configuration: HoldfastConfiguration, except journal: String) -> ServiceElsewhere? {
        for (_, address) in configuration.listenAddresses where address.port != 0 {
            guard let process = ListenLook.process(listeningOn: address.port),
                let used = Self.journal(of: process), used != real(journal)
            else { continue }
            return ServiceElsewhere(process: process, journal: used)
        }
        return nil
    }

    /// By the file that the owner of a journal holds open.
    private static func journal(of process: Int) -> String? {
        let suffix = "/owner.lock"
        let file = ProcessFiles.openFiles(of: process)?.first { $0.hasSuffix(suffix) }
        return file.map { String($0.dropLast(suffix.count)) }
    }

    private static func real(_ path: String) -> String {
        URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
    }
}
