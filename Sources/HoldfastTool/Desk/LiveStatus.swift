internal import Holdfast
internal import HoldfastControl

/// The lanes and routes of the process that uses a journal, as it says itself.
enum LiveStatus {
    /// - Parameters:
    ///   - owner: who uses the journal, as its reader found; nil at rest.
    ///   - console: is told why the process says nothing.
    /// - Returns: nil at rest, and when the process says nothing.
    static func read(_ journal: String, owner: String?, console: Console = .standard) async throws -> DeskStatus? {
        guard let owner else { return nil }
        let silence: String
        do {
            if let desk = try await DeskOpener.live(journal) {
                do {
                    let status = try await desk.status()
                    await desk.close()
                    return status
                } catch {
                    await desk.close()
                    throw error
                }
            }
            silence = "it serves no control socket"
        } catch let error as ControlError {
            silence = error.message
        }
        console.note("this is what is in the journal only: it is in use by \(owner), and \(silence)")
        return nil
    }
}
