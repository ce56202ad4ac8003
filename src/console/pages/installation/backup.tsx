import { dirname } from 'node:path'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { Events } from '../../../../views/ui/events.tsx'
import { ActionButton, Button } from '../../../../views/ui/form/button.tsx'
import { Checkbox } from '../../../../views/ui/form/choices.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { Columns, type Fact, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import { bytes, capitalized } from '../../../../views/ui/words.ts'
import type { Archive, ArchiveCheck } from '../../../platform/backup/index.ts'
import { isObjectUrl } from '../../../platform/object-storage/index.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { badgeOf, deleteBackup } from './backups.tsx'

interface BackupView {
  archive: Archive
  check: ArchiveCheck | undefined
}

/** One backup: check, download, restore and delete it. */
export const backupPage = page({
  path: '/backups/:id',
  section: 'backups',
  right: 'admin',

  load: async ({ backups, params, result }): Promise<BackupView> => ({
    archive: await backups.archives.find(params.id),
    check: result as ArchiveCheck | undefined,
  }),

  title: ({ archive }) => archive.name,

  view({ archive, check }) {
    const { actionHref } = useHere()
    const { isThere, isEncrypted, name } = archive
    const badge = badgeOf(archive)
    return (
      <>
        <PageHead
          title={<Text text={name} limit={80} />}
          state={{ tone: badge.tone, sentence: sentenceOn(archive) }}
          action={
            isThere &&
            !isEncrypted && (
              <ActionButton weight="primary" action={actionHref('check')}>
                Check backup
              </ActionButton>
            )
          }
        />
        {check && <CheckResult check={check} />}
        <Columns>
          <Section id="about" title="About" isCard>
            <Facts facts={factsOf(archive)} />
          </Section>
          {isThere && <Download isEncrypted={isEncrypted} />}
        </Columns>
        {isThere && <Restore {...archive} />}
        {archive.endedAt !== null && <DangerZone items={[removal(archive)]} />}
      </>
    )
  },

  actions: {
    check: {
      right: 'admin',
      run: async ({ backups, params }) => ({
        again: true,
        result: await backups.archives.check(params.id),
      }),
    },
    download: {
      right: 'admin',
      async run({ backups, params, fields, audit, actor, db }) {
        const withKey = trimmedText(fields, 'key') === 'true'
        const { name, body } = await backups.archives.read(params.id, { withKey })
        const object = `backup:${params.id}`
        const entry = { actor, action: 'backup.downloaded', object, detail: { with_key: withKey } }
        await db.commit(() => audit.recordForOperators(entry))
        const headers = {
          'content-type': name.endsWith('.gz') ? 'application/gzip' : 'application/octet-stream',
          'content-disposition': `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`,
        }
        return { file: new Response(body, { headers }) }
      },
    },
    delete: {
      right: 'admin',
      flash: good('Backup deleted.'),
      async run(context) {
        await deleteBackup(context, context.params.id)
        return { to: '/backups' }
      },
    },
  },
})

function sentenceOn({ endedAt, error, isThere, isEncrypted }: Archive) {
  if (endedAt === null) return 'In progress'
  if (error !== null) return <LongText text={error} />
  return isThere
    ? isEncrypted
      ? 'Completed and encrypted. Check it on the command line before you rely on it.'
      : 'Completed. Check it before you rely on it.'
    : 'The file was removed or cannot be read. Only this record is left.'
}

const factsOf = (archive: Archive): Fact[] => [
  ['File', <LongText text={archive.file} />],
  ['Status', <StatusBadge {...badgeOf(archive)} />],
  ['Encrypted', archive.isEncrypted ? 'Yes, with age' : 'No'],
  ['Size', archive.bytes === null ? undefined : bytes(archive.bytes)],
  ['Trigger', capitalized(archive.origin)],
  ['Started', <Time at={archive.startedAt} />],
  ['Took', archive.endedAt === null ? undefined : duration(archive.endedAt - archive.startedAt)],
]

const CheckResult = ({ check }: { check: ArchiveCheck }) => (
  <Section id="result" title="Check">
    <Events
      label="Check"
      events={[
        'problem' in check
          ? {
              tone: 'bad',
              title: "This backup can't be restored",
              text: <LongText text={`${capitalized(check.problem)}.`} />,
            }
          : {
              tone: 'good',
              title: 'Complete and restorable',
              text: `The database (${bytes(check.databaseBytes)}) is intact. ${
                check.hasKey
                  ? 'The master key is included and matches.'
                  : 'The master key is not included: keep it elsewhere.'
              }`,
            },
      ]}
    />
  </Section>
)

const Download = ({ isEncrypted }: { isEncrypted: boolean }) => (
  <Section id="download" title="Download" isCard>
    <PageForm action="download" initial={{}} buttons={<Button>Download backup</Button>}>
      {isEncrypted ? (
        <p>The file stays encrypted. You need its private key to open it.</p>
      ) : (
        <Checkbox
          name="key"
          label="Include the master key"
          help="With the key, anyone who has the file can read all data and every secret. Without it, the backup is useless unless you keep master.key elsewhere."
        />
      )}
    </PageForm>
  </Section>
)

/** The exact commands, for the ways to run Gatehouse. */
function Restore({ file, name, isEncrypted }: Archive) {
  const { db } = usePage()
  const [archive, copy] = [quoted(file), quoted(name)]
  const identity = isEncrypted ? ' --identity private-key.txt' : ''
  return (
    <Section
      id="restore"
      title="Restore"
      note={
        <>
          Gatehouse stops, and keeps the current data in a folder of its own. Calls, events and
          emails that were waiting at the time of the backup go out, some for the second time: start
          with <code>gatehouse serve --paused</code> to look first.
        </>
      }
    >
      <CodeBlock title="On this machine" what="commands">
        {`sudo systemctl stop gatehouse
sudo gatehouse restore ${archive}${identity} --data-dir ${quoted(dirname(db.file))}
sudo systemctl start gatehouse`}
      </CodeBlock>
      <CodeBlock title="With Docker, from a downloaded file" what="commands">
        {`docker compose stop
docker compose run --rm -T gatehouse restore -${identity && ' --identity /data/private-key.txt'} < ${copy}
docker compose start`}
      </CodeBlock>
    </Section>
  )
}

/** An argument for a POSIX shell. */
const quoted = (text: string): string =>
  /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

const removal = ({ isThere, file }: Archive) => ({
  text: isThere
    ? `The file is deleted from ${isObjectUrl(file) ? 'object storage' : 'the disk'}.`
    : 'The file is gone already. This removes the record.',
  id: 'delete',
  verb: 'Delete backup',
  question: 'Delete this backup?',
  consequence: "This can't be undone.",
  action: useHere().actionHref('delete'),
})
