import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { serve } from '../../../src/http/serve.ts'
import { useApp } from '../../support/app.ts'
import { createNames, readConsole } from '../../support/console.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage } from '../../support/page.ts'
import { openShell } from '../../support/shell.ts'
import { ROOT } from '../../support/source.ts'

/** What docs/installation-api.md shows is run as it stands there. */

const page = await openPage('installation-api.md')
const app = await useApp({ start: new Date().toISOString() })
const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
const base = listener.url
const { key } = await app.platform.keys.issueForInstallation({ kind: 'system' }, {})

const HAS_SHELL = Bun.which('bash') !== null && Bun.which('curl') !== null

test.skipIf(!HAS_SHELL)('The commands print what the page says', async () => {
  using folder = temporaryFolder()
  await using shell = openShell({
    cwd: folder.path,
    env: {
      API: `${base}/v1/installation`,
      AUTH: `Authorization: Bearer ${key}`,
      JSON: 'Content-Type: application/json',
    },
  })
  const names = createNames()
  const shown = page.blocks('console').flatMap(readConsole)
  for (const { command, output } of shown.filter(({ command }) => command.startsWith('curl'))) {
    const printed = await shell.run(names.translate(command))
    if (!names.matches({ command, output }, printed))
      expect([command, printed]).toEqual([command, output])
  }
})

const PLAYBOOK = Bun.which('ansible-playbook')

test.skipIf(PLAYBOOK === null)(
  'The playbook creates what is missing, and nothing the second time',
  async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'ansible.yml')
    await Bun.write(file, Bun.file(`${ROOT}/docs/examples/ansible.yml`))
    const run = async () => {
      const child = Bun.spawn(
        [`${PLAYBOOK}`, file, '-e', `gatehouse=${base} tenant=Fresh owner=fresh@example.com`],
        { env: { ...process.env, INSTALLATION_KEY: key }, stdout: 'pipe', stderr: 'ignore' },
      )
      return (await new Response(child.stdout).text()).match(/changed=\d+|failed=\d+/g)
    }
    expect([await run(), await run()]).toEqual([
      ['changed=4', 'failed=0'],
      ['changed=0', 'failed=0'],
    ])
  },
  120_000,
)
