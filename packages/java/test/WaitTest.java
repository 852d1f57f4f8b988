import io.github.sortkey.SortkeyDatabase;
import io.github.sortkey.SortkeyExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SortkeyExtension.class)
class WaitTest {
    @Test
    void waits(SortkeyDatabase db) throws InterruptedException {
        Thread.sleep(60_000);
    }
}
