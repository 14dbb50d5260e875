import Holdfast
import Synchronization

final class Rejections: MetricsListener {
    private let counts = Mutex<[Reason: Int]>([:])

    func rejected(_ count: Int, reason: Reason, route: String) {
        counts.withLock { $0[reason, default: 0] += count }
    }
}
