import type { NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import { webAddress } from './href.ts'
import { CheckIcon, ClockIcon, InfoIcon, ProblemIcon } from './icons.tsx'
import { Layout } from './layout.tsx'
import { shownName } from './name.ts'
import { WORDS } from './words.ts'

type Notice = NoticePage['notice']

const GOOD: readonly Notice[] = ['signed_in', 'signed_up']
const LATE: readonly Notice[] = ['flow_expired', 'too_many_tries']
const INFORMATIONAL: readonly Notice[] = ['flow_unknown', 'other_browser']

/** A page with a single message and no form. */
export const NoticeDocument = ({ page }: { page: NoticePage }) => {
  const { language, tenantName, notice, branding } = page
  const { heading, text } = WORDS[language].notices[notice]
  const tenant = tenantName === null ? undefined : shownName(tenantName)
  return (
    <Layout
      language={language}
      title={tenant ? `${heading} · ${tenant}` : heading}
      branding={branding}
    >
      <main class="card notice">
        <header>
          <NoticeIcon notice={notice} />
          {tenant && (
            <p class="tenant">
              <bdi>{tenant}</bdi>
            </p>
          )}
          <h1>{heading}</h1>
          <p class="intro">{text}</p>
        </header>
      </main>
      <NoticeLinks page={page} />
    </Layout>
  )
}

const NoticeLinks = ({ page }: { page: NoticePage }) => {
  const { language, backTo, beginAgain } = page
  const words = WORDS[language]
  if (backTo === undefined && beginAgain === undefined) return null
  return (
    <nav class="others" aria-label={words.otherPages}>
      {backTo !== undefined && <a href={webAddress(backTo)}>{words.back}</a>}
      {beginAgain !== undefined && <a href={webAddress(beginAgain)}>{words.beginAgain}</a>}
    </nav>
  )
}

const NoticeIcon = ({ notice }: { notice: Notice }) => {
  if (GOOD.includes(notice)) return <span class="sign good">{<CheckIcon />}</span>
  if (LATE.includes(notice)) return <span class="sign late">{<ClockIcon />}</span>
  if (INFORMATIONAL.includes(notice)) return <span class="sign">{<InfoIcon />}</span>
  return <span class="sign bad">{<ProblemIcon />}</span>
}
