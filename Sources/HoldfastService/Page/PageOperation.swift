internal import Holdfast
internal import HoldfastControl
internal import HoldfastGateway

/// One operation of the JSON under `/api`: a path, who may use it, and what it does.
struct PageOperation: Sendable {
    /// What an operation is called with.
    struct Call: Sendable {
        let items: PageItems
        let journal: PageJournal
        let service: PageService
        /// Tells the log what was changed; of what reads, nobody.
        let audit: PageAudit
    }

    let path: String
    let isChange: Bool
    /// The names that a request may give.
    let names: [String]
    let run: @Sendable (Call) async throws -> AdminPage.Answer

    static func reading(
        _ path: String, _ names: [String] = [], _ run: @escaping @Sendable (Call) async throws -> AdminPage.Answer
    ) -> PageOperation {
        PageOperation(path: path, isChange: false, names: names, run: run)
    }

    static func change(
        _ path: String, _ names: [String] = [], _ run: @escaping @Sendable (Call) async throws -> AdminPage.Answer
    ) -> PageOperation {
        PageOperation(path: path, isChange: true, names: names, run: run)
    }

    /// All of them. Docs/Operate/Page.md and openapi.json say what they answer.
    static let all: [PageOperation] =
        PageOverview.operations + PageEntries.operations + PageSearch.operations + PageCampaigns.operations
        + PageBlacklist.operations + PageSchedule.operations + PageRejections.operations + PageLanes.operations
        + PageSweeps.operations + PageFleet.operations + PageFleetSearch.operations
}

extension PageOperation {
    /// The page of the admin listener that serves it.
    func page(_ access: PageAccess, _ service: PageService) -> AdminPage {
        AdminPage(path, isChange ? .post : .get) { request in
            do {
                let guest = isChange ? try access.changer(request) : try access.reader(request)
                let items =
                    isChange
                    ? try PageItems(body: request.body, names) : try PageItems(query: request.query, names)
                guard let journal = service.journal() else { throw PageRefusal.closed }
                let audit = PageAudit(service.logger, guest, request)
                return try await run(Call(items: items, journal: journal, service: service, audit: audit))
            } catch {
                return PageReply.failed(error)
            }
        }
    }
}
