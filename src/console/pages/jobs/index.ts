import type { Page } from '../../page.tsx'
import { delayedList } from './delayed.tsx'
import { newDelayedJob } from './delayed-form.tsx'
import { delayedJob } from './delayed-job.tsx'
import { editJob, newJob } from './form.tsx'
import { jobPage } from './job.tsx'
import { jobList } from './list.tsx'

export const jobPages: readonly Page[] = [
  jobList,
  newJob,
  jobPage,
  editJob,
  delayedList,
  newDelayedJob,
  delayedJob,
]
