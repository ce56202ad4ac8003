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

test.each([
  ["message.startsWith('url')", PARSED, true],
  ["error.message.replace(/^body: /, '')", PARSED, true],
  ['/^return_urls/.exec(error.message)', PARSED, true],
  ['LINE.exec(problem)', PARSED, true],
  ['brief(error.message)', PARSED, false],
  ["kind.startsWith('message')", PARSED, false],
  ["invalid('url: must be one')", FIELD_IN_TEXT, true],
  ["invalid(\n  'traits.email: is taken',", FIELD_IN_TEXT, true],
  ["invalid('must be one', { field: 'url' })", FIELD_IN_TEXT, false],
])('The pattern %#: %j', (text, pattern, isMatch) => {
  expect(text.match(pattern) !== null).toBe(isMatch)
})

test('No code parses a message: field, rule and code are for that', () => {
  expect(files.length).toBeGreaterThan(50)
  expect(filesWith(PARSED).toSorted()).toEqual(Object.keys(OF_OTHERS).toSorted())
})

test('No message begins with its field: the options name it', () => {
  expect(filesWith(FIELD_IN_TEXT)).toEqual([])
})
