import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { ROOT } from '../support/source.ts'

/** Work of the program itself, or of somebody whose tenant only the work can tell. */
const WITHOUT_TENANT = [
  'engines/gate/sign-in/social/oauth-states.ts',
  'engines/passepartout/telegram/receivers.ts',
]

test('engines and deliveries write in the lane of the tenant they write for', async () => {
  const src = join(ROOT, 'src')
  const files = [...new Bun.Glob('{engines,delivery}/**/*.ts').scanSync(src)]
  const isShared = async (file: string) =>
    (await Bun.file(join(src, file)).text()).includes('db.commit(')

  const shared = await Promise.all(files.map(isShared))

  expect(files.filter((_, n) => shared[n]).toSorted()).toEqual(WITHOUT_TENANT)
})
