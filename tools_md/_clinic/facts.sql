-- The clinic's opening hours, services, and how to prepare for each.

INSERT INTO opening_hours (weekday, opens, closes) VALUES
    (0, '08:00', '12:00'), (0, '13:00', '19:00'),
    (1, '08:00', '12:00'), (1, '13:00', '19:00'),
    (2, '08:00', '12:00'), (2, '13:00', '19:00'),
    (3, '08:00', '12:00'), (3, '13:00', '19:00'),
    (4, '08:00', '12:00'), (4, '13:00', '17:00'),
    (5, '09:00', '13:00');

INSERT INTO service (code, name, description, price_usd, position) VALUES
    ('exam', 'Exam',
     'A check of teeth, gums and bite, with X-rays where they are due.', 65, 1),
    ('cleaning', 'Cleaning',
     'Plaque and tartar removed, teeth polished, fluoride if a parent wishes.', 85, 2),
    ('exam_and_cleaning', 'Exam and cleaning',
     'The half-yearly visit: both of the above in one sitting.', 130, 3),
    ('emergency', 'Emergency visit',
     'Pain, swelling, or a broken or knocked-out tooth. Seen at the next free slot.', 110, 4);

INSERT INTO preparation (service, kind, position, text) VALUES
    ('exam', 'do', 1, 'Brush and floss before you leave home.'),
    ('exam', 'do', 2, 'Come ten minutes early for the health questions.'),
    ('exam', 'bring', 1, 'Your insurance card'),
    ('exam', 'bring', 2, 'A list of medicines the child takes'),
    ('cleaning', 'do', 1, 'Give a light meal no later than an hour before.'),
    ('cleaning', 'do', 2, 'Tell us beforehand about heart conditions or recent surgery.'),
    ('cleaning', 'bring', 1, 'Your insurance card'),
    ('exam_and_cleaning', 'do', 1, 'Brush and floss before you leave home.'),
    ('exam_and_cleaning', 'do', 2, 'Give a light meal no later than an hour before.'),
    ('exam_and_cleaning', 'do', 3, 'Come ten minutes early for the health questions.'),
    ('exam_and_cleaning', 'bring', 1, 'Your insurance card'),
    ('exam_and_cleaning', 'bring', 2, 'A list of medicines the child takes'),
    ('emergency', 'do', 1, 'Keep a knocked-out adult tooth in milk; do not scrub it.'),
    ('emergency', 'do', 2, 'Press a clean cloth on a bleeding gum; cool a swelling from outside.'),
    ('emergency', 'do', 3, 'For trouble breathing or a fever with swelling, call 911 first.'),
    ('emergency', 'bring', 1, 'Your insurance card'),
    ('emergency', 'bring', 2, 'The broken piece, if you have it');
