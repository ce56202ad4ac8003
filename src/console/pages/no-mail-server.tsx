import { usePage } from '../page.tsx'

/** Who can set up the mail server, and where: beside what needs it. */
export function NoMailServer() {
  const { operator, href } = usePage()
  return operator.isAdmin ? (
    <>
      <a href={href('/mail-server')}>Set up the mail server</a>.
    </>
  ) : (
    <>Ask an admin of the installation to set up a mail server.</>
  )
}
