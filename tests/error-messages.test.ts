import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'

const ROOT = join(import.meta.dir, '..')
const files = [...new Glob('{src,views}/**/*.{ts,tsx}').scanSync(ROOT)]
const sources = await Promise.all(
  files.map(async (file) => ({ file, text: await Bun.file(join(ROOT, file)).text() })),
)

/** Code that reads a message, by one of its methods or by a pattern. */
const PARSED =
  /\b(?:message|problem)\??\.(?:startsWith|endsWith|includes|indexOf|lastIndexOf|split|match|matchAll|search|replace)\(|\.(?:exec|test|matchAll?)\((?:[^()\n]*[^\w'"`])?(?:message|problem)\b/g

/** Files that read messages of third parties, which give nothing else. */
const OF_OTHERS = {
  'src/cli/run.ts': 'parseArgs of Node.js',
  'src/cli/sentences.ts': 'errors of the system',
  'src/config/toml-file.ts': 'the TOML parser of Bun',
  'src/engines/passepartout/telegram/client.ts': 'the Bot API',
  'src/http/body.ts': 'JSON.parse',
}

/** A message that begins with its field, which belongs into the options. */
const FIELD_IN_TEXT =
  /\b(?:invalid|conflict|notFound|forbidden|unauthenticated|unavailable|rateLimited)\(\s*['"`][A-Za-z][\w.-]*: |new AppError\(\s*'\w+',\s*['"`][A-Za-z][\w.-]*: /g

const filesWith = (pattern: RegExp) =>
  sources.filter(({ text }) => text.match(pattern)).map(({ file }) => file)

test('No code parses a message: field, rule and code are for that', () => {
  expect('LINE.exec(problem)').toMatch(PARSED)
  expect(filesWith(PARSED).toSorted()).toEqual(Object.keys(OF_OTHERS).toSorted())
})

test('No message begins with its field: the options name it', () => {
  expect("invalid('url: must be one')").toMatch(FIELD_IN_TEXT)
  expect(filesWith(FIELD_IN_TEXT)).toEqual([])
})
