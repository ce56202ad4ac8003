import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folder.ts'

const POLICY = join(import.meta.dir, '../../../src/engines/gate/authorization/policy')

const PROGRAM = `
import { createPdp } from '${POLICY}/pdp.ts'
import { parseResource } from '${POLICY}/question.ts'

const pdp = createPdp()
const principal = { kind: 'service', id: 'billing' }
const question = { tenantId: 't', principal, action: 'a.read', resource: parseResource('x:1'), context: { n: 1 } }
const decide = (text, version) => pdp.decide(question, { tenantId: 't', version, text })
console.log(JSON.stringify({
  starter: pdp.decide(question, null).reason,
  isStarted: pdp.isStarted(),
  custom: decide('@id("n") permit (principal is Service, action, resource) when { context.n == 1 };', 1).reason,
  mistake: decide('permit (', 2).reason,
  tooDeep: decide('permit (principal, action, resource) when { ' + '1 + '.repeat(4000) + '1 == 1 };', 3).reason,
  after: decide('permit (principal, action, resource);', 4).reason,
  files: Bun.embeddedFiles.map((file) => file.name),
}))
`

test('a compiled program decides from inside itself, in another folder with an empty environment', async () => {
  using folder = temporaryFolder()
  using elsewhere = temporaryFolder()
  const outfile = join(folder.path, 'program')
  await Bun.write(join(folder.path, 'program.ts'), PROGRAM)
  const built = await Bun.build({
    entrypoints: [join(folder.path, 'program.ts')],
    target: 'bun',
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  expect(built.logs).toEqual([])

  const child = Bun.spawn([outfile], {
    cwd: elsewhere.path,
    env: {},
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])

  expect(err).toBe('')
  expect(JSON.parse(out)).toEqual({
    starter: 'no policy permits this',
    isStarted: false,
    custom: 'permitted by policy "n"',
    mistake: expect.stringMatching(/^unusable policies: line 1, column 9: /),
    tooDeep: 'unusable policies: is nested too deeply; access is denied',
    after: 'permitted by policy "policy 1"',
    files: [expect.stringMatching(/cedar_wasm_bg.*\.wasm$/)],
  })
}, 60_000)
