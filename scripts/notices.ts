/** Prints the notices of what the executable contains: `bun scripts/notices.ts`. */
import { readNotices } from './build.ts'

await Bun.write(Bun.stdout, await readNotices())
