/**
 * Makes the migration for what changed in the schema files:
 * `bun run migration <name>`. drizzle-kit writes the SQL; this adds STRICT to new tables
 * and rebuilds drizzle/index.ts, through which the SQL is embedded in the executable.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { $ } from 'bun'

const FOLDER = join(import.meta.dir, '..', 'drizzle')

const sqlFiles = () =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()

/** drizzle-kit closes each CREATE TABLE with `);` on a line of its own. */
async function makeStrict(file: string) {
  const path = join(FOLDER, file)
  const statements = (await Bun.file(path).text()).split('--> statement-breakpoint')
  const strict = statements.map((statement) =>
    statement.trim().startsWith('CREATE TABLE')
      ? statement.replace(/\);\s*$/, ') STRICT;\n')
      : statement,
  )
  await Bun.write(path, strict.map((statement) => `${statement.trim()}\n`).join('\n'))
}

async function writeIndex() {
  const files = sqlFiles()
  const nameOf = (file: string) => `m${file.slice(0, 4)}`
  const lines = [
    '// Written by scripts/migration.ts: every migration in order, embedded as text.',
    ...files.map((file) => `import ${nameOf(file)} from './${file}' with { type: 'text' }`),
    '',
    'export const migrations = [',
    ...files.map((file) => `  { id: '${file.replace('.sql', '')}', sql: ${nameOf(file)} },`),
    ']',
    '',
  ]
  await Bun.write(join(FOLDER, 'index.ts'), lines.join('\n'))
}

const [name] = process.argv.slice(2)
if (!name) {
  console.error('usage: bun run migration <name>')
  process.exit(2)
}
const before = new Set(sqlFiles())
await $`drizzle-kit generate --name ${name}`
for (const file of sqlFiles().filter((file) => !before.has(file))) await makeStrict(file)
await writeIndex()
